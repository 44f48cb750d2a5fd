"""All rows, by kind."""

from __future__ import annotations

from attacks import files, matrices, states, texts

ROWS = [*matrices.ROWS, *states.ROWS, *files.ROWS, *texts.ROWS]
