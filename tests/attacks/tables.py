"""All rows, by kind."""

from __future__ import annotations

from attacks import commands, files, frames, matrices, passes, processes, states, texts

ROWS = [
    *matrices.ROWS,
    *states.ROWS,
    *files.ROWS,
    *texts.ROWS,
    *commands.ROWS,
    *frames.ROWS,
    *passes.ROWS,
    *processes.ROWS,
]
