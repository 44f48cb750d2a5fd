"""Frozen settings and records: `dataclass(frozen=True)` that loads fast.

`dataclass` compiles six methods for every class, which for the whole catalogue takes as long as half of NumPy's import.
Here nothing is compiled, as all classes share their methods, and what `dataclasses` knows of a class (`fields`,
`replace`) is made when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from dataclasses import field
else:
    field = None

T = TypeVar("T")
MISSING = object()


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
    made: Any = cls
    made.__record__ = {}  # name: type and default of each value
    for base in reversed(cls.__mro__[1:]):
        made.__record__ |= getattr(base, "__record__", {})
    for name, kind in cls.__annotations__.items():
        if not str(kind).startswith("ClassVar"):
            made.__record__[name] = (kind, cls.__dict__.get(name, MISSING))
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(made, name, _AsDataclass(name))
    made.__match_args__ = tuple(made.__record__)  # type: ignore[misc]
    if "__init__" not in cls.__dict__:
        made.__init__, made.__signature__ = _fill, _Signature()
    made.__setattr__, made.__delattr__ = _never_set, _never_delete
    if made.__repr__ is object.__repr__:
        made.__repr__ = _words
    if made.__eq__ is object.__eq__:
        made.__eq__, made.__hash__ = _equal, _hash
    return made


class _AsDataclass:
    """What `dataclasses` and `pprint` look for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, thing: Any, cls: Any) -> Any:
        from dataclasses import make_dataclass

        known = [(name, *(x for x in about if x is not MISSING)) for name, about in cls.__record__.items()]
        value = vars(make_dataclass(cls.__name__, known, init=False, repr=False, eq=False))[self.name]
        setattr(cls, self.name, value)  # instead of this
        return value


class _Signature:
    """What `inspect.signature` and help show; made when it is asked for."""

    def __get__(self, thing: Any, cls: Any) -> Any:
        from inspect import Parameter, Signature

        def default(given: Any) -> Any:
            return Parameter.empty if given is MISSING else getattr(given, "default_factory", given)

        kind = Parameter.POSITIONAL_OR_KEYWORD
        known = cls.__record__.items()
        return Signature([Parameter(name, kind, default=default(given)) for name, (_, given) in known])


def _fill(self: Any, /, *values: Any, **named: Any) -> None:
    known, own, kind = self.__record__, self.__dict__, type(self).__qualname__
    if len(values) > len(known):
        raise TypeError(f"{kind}() takes {len(known)} values at most, but {len(values)} were given")
    given = iter(values)
    for name, (_, default) in known.items():
        value = next(given, MISSING)
        if value is MISSING:
            value = named.pop(name, default)
        if value is MISSING:
            raise TypeError(f"{kind}() needs {name}")
        # what `field(default_factory=...)` made, where it was not given
        own[name] = value.default_factory() if value is default and hasattr(value, "default_factory") else value
    for name in named:
        raise TypeError(f"{kind}() got {name} {'twice' if name in own else 'which it does not know'}")
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _never_set(self: Any, name: str, value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _never_delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__record__)


def _words(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in self.__record__)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))
