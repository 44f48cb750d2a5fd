"""Frozen settings and records: `dataclass(frozen=True)` that loads fast.

`dataclass` compiles six methods for every class, which for the whole catalogue takes as long as half of NumPy's import.
Here nothing is compiled: all classes share their methods.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass; an `__init__` that it has, and an `__eq__` that it has or inherits, stays.

    >>> @record
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
    (Point(x=1.0, y=0.0), True)
    >>> Point(1.0).x = 2.0
    Traceback (most recent call last):
    ...
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    >>> Point(y=1.0)
    Traceback (most recent call last):
    ...
    TypeError: Point() needs x
    """
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)
    if "__init__" not in cls.__dict__:
        made.__init__, made.__signature__ = _fill, _Signature()
        made.__fills__ = tuple((f.name, f.default, f.default_factory) for f in fields(made) if f.init)
    made.__setattr__, made.__delattr__ = _never_set, _never_delete
    if made.__repr__ is object.__repr__:
        made.__repr__ = _words
    if made.__eq__ is object.__eq__:
        made.__eq__, made.__hash__ = _equal, _hash
    return made


def _fill(self: Any, /, *values: Any, **named: Any) -> None:
    known, own, kind = self.__fills__, self.__dict__, type(self).__qualname__
    if len(values) > len(known):
        raise TypeError(f"{kind}() takes {len(known)} values at most, but {len(values)} were given")
    for (name, default, factory), value in zip(known, values + (MISSING,) * (len(known) - len(values)), strict=True):
        if value is not MISSING:
            own[name] = value
        elif name in named:
            own[name] = named.pop(name)
        elif default is not MISSING:
            own[name] = default
        elif factory is not MISSING:
            own[name] = factory()
        else:
            raise TypeError(f"{kind}() needs {name}")
    for name in named:
        raise TypeError(f"{kind}() got {name} {'twice' if name in own else 'which it does not know'}")
    if hasattr(self, "__post_init__"):
        self.__post_init__()


class _Signature:
    """What `inspect.signature` and help show; made when it is asked for."""

    def __get__(self, thing: Any, cls: Any) -> Any:
        from inspect import Parameter, Signature

        def default(given: Any, factory: Any) -> Any:
            return Parameter.empty if given is factory is MISSING else given if factory is MISSING else factory

        kind = Parameter.POSITIONAL_OR_KEYWORD
        return Signature([Parameter(name, kind, default=default(g, f)) for name, g, f in cls.__fills__])


def _never_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _never_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, f.name) for f in fields(self))


def _words(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))
