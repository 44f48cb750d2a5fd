"""`python -m gossamer` is the command `gossamer`."""

from gossamer.cli.start import command

command()
