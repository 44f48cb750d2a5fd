"""The fitted model: its file, its exports to other languages, its report and its plots."""

from gossamer.registry import rooms

HOMES = {
    "model": "Model load save",
    "display": "PathDisplay",
}
__all__ = [name for names in HOMES.values() for name in names.split()]
__getattr__ = rooms(__name__, HOMES)
