"""Frozen settings and records: `dataclass(frozen=True)` that loads fast.

`dataclass` compiles the methods of every class: 13 ms at the start of `gossamer train`. Here all classes share them.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field
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
    >>> from dataclasses import fields, replace
    >>> replace(Point(1.0), y=2.0), [f.name for f in fields(Point)]
    (Point(x=1.0, y=2.0), ['x', 'y'])
    """
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)
    if "__init__" not in cls.__dict__:
        made.__init__, made.__signature__ = _fill, _Signature()
    made.__setattr__, made.__delattr__ = _never_set, _never_delete
    if made.__repr__ is object.__repr__:
        made.__repr__ = _words
    if made.__eq__ is object.__eq__:
        made.__eq__, made.__hash__ = _equal, _hash
    return made


class _Signature:
    """What `inspect.signature` and help show; made when it is asked for."""

    def __get__(self, thing: Any, cls: Any) -> Any:
        from inspect import Parameter, Signature

        def default(about: Any) -> Any:
            given = about.default if about.default_factory is MISSING else about.default_factory
            return Parameter.empty if given is MISSING else given

        known = [cls.__dataclass_fields__[name] for name in cls.__match_args__]
        kind = Parameter.POSITIONAL_OR_KEYWORD
        return Signature([Parameter(about.name, kind, default=default(about)) for about in known])


def _fill(self: Any, /, *values: Any, **named: Any) -> None:
    names, kind = self.__match_args__, type(self).__qualname__
    if len(values) > len(names):
        raise TypeError(f"{kind}() takes {len(names)} values at most, but {len(values)} were given")
    given = dict(zip(names, values, strict=False))
    for name in named:
        if name in given or name not in names:
            raise TypeError(f"{kind}() got {name} {'twice' if name in given else 'which it does not know'}")
    given |= named
    for name in names:
        self.__dict__[name] = given[name] if name in given else _default(self.__dataclass_fields__[name], kind)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _default(about: Any, kind: str) -> Any:
    if about.default_factory is not MISSING:
        return about.default_factory()
    if about.default is MISSING:
        raise TypeError(f"{kind}() needs {about.name}")
    return about.default


def _never_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _never_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__match_args__)


def _words(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))
