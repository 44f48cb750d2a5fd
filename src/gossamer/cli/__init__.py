"""The command line: its arguments, its commands, and a run over a source with progress and checkpoints."""
