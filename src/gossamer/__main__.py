"""`python -m gossamer` is the command `gossamer`."""

import sys

from gossamer.cli import main

sys.exit(main())
