"""`python -m gossamer` is the command `gossamer`."""

from gossamer.cli.arguments import command

command()
