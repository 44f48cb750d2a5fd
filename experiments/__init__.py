"""The papers' tables and figures, re-run with this library: one module an id, `python -m experiments` runs them."""
