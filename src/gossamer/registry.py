"""Names for parts: "l1" stands for `L1()`, a wrong name lists the right ones, an object stands for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def resolve(spec: Any, table: Mapping[str, Callable[[], Any]], noun: str, methods: tuple[str, ...]) -> Any:
    """Return the part called `spec`, or `spec` itself when it has the `methods` of one."""
    if isinstance(spec, str):
        if spec in table:
            return table[spec]()
        import difflib

        near = difflib.get_close_matches(spec, table, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"There is no {noun} {spec!r}.{hint} The names are: {', '.join(sorted(table))}.")
    if isinstance(spec, type):
        raise TypeError(f"A {noun} is an object, not a class: pass {spec.__name__}().")
    missing = [m for m in methods if not callable(getattr(spec, m, None))]
    if missing:
        raise TypeError(
            f"A {noun} is a name or an object with {' and '.join(methods)}; "
            f"{type(spec).__name__} has no {' and no '.join(missing)}."
        )
    return spec


def rooms(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return `__getattr__` of a package whose public names load from its modules when they are first used.

    `homes` maps a module of the package to the names that live there, separated by spaces.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        from importlib import import_module

        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return load
