"""Frozen records, and parts by name: ``@PENALTIES.part("l1")`` registers a record.

"l1" then stands for `L1()`, a wrong name lists the right ones, and an object stands for itself. What the library must
know about a part is on its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)

# Records: `dataclass` compiles the methods of every class, 13 ms at the start of `gossamer train`. Here all share them.


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: Class) -> Class:
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
    if len(values) == len(names) and not named:
        self.__dict__.update(zip(names, values, strict=True))
        if hasattr(self, "__post_init__"):
            self.__post_init__()
        return
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


# Parts


def similar(word: str, names: Iterable[Any]) -> str | None:
    """Return the name that a misspelt word resembles, or None."""
    import difflib  # loads slowly, and is seldom needed

    near = difflib.get_close_matches(word, [name for name in names if isinstance(name, str)], n=1)
    return near[0] if near else None


def nearest(name: str, names: Iterable[Any]) -> str:
    """Return a sentence with the name that a wrong one resembles, or "".

    >>> nearest("citty", ["city", "zip"]), nearest("x", ["city", "zip"])
    (" Did you mean 'city'?", '')
    """
    near = similar(name, names)
    return "" if near is None else f" Did you mean {near!r}?"


class Registry(Mapping[str, Any]):
    """The parts of one noun, by name and in the order in which they are defined.

    >>> fruits = Registry("fruit", ("peel",))
    >>> @fruits.part("apple", "auto")
    ... class Apple:
    ...     def peel(self): ...
    >>> list(fruits), fruits.classes, fruits.name_of(Apple())
    (['apple', 'auto'], [<class 'gossamer.registry.Apple'>], 'apple')
    >>> fruits.resolve("aple")
    Traceback (most recent call last):
    ...
    ValueError: There is no fruit 'aple'. Did you mean 'apple'? The names are: apple, auto.
    >>> @fruits.part("plum", same=("prune_tree",), near=("cherry",))
    ... class Plum: ...
    >>> fruits.hint("cherry"), fruits.hint("prune_tree")
    (" The nearest is 'plum'.", " It is called 'plum' here.")
    """

    def __init__(self, noun: str, verbs: tuple[str, ...]) -> None:
        self.noun, self.verbs = noun, verbs
        self.classes: list[type] = []  # including those without a name
        self._by_name: dict[str, Any] = {}
        self._elsewhere: dict[str, str] = {}  # names of other libraries: what to say of them

    def part(
        self,
        *names: str,
        same: tuple[str, ...] = (),
        near: tuple[str, ...] = (),
        said: Mapping[str, str] | None = None,
    ) -> Callable[[Class], Class]:
        """Return the decorator that registers a class under these names, or without a name.

        `same` are names that other libraries have for this part, `near` their names of parts that are not here and to
        which this one is the nearest. They are no names of ours: the error for them says what to use. `said` has more
        such names, with the sentence to say.
        """
        said = said or {}

        def join(cls: Class) -> Class:
            for name in (*names, *same, *near, *said):
                if name in self._by_name or name in self._elsewhere:
                    owner = self._by_name[name].__name__ if name in self._by_name else "a name of another library"
                    raise ValueError(f"There is a {self.noun} {name!r} already: {owner}.")
            self._by_name.update(dict.fromkeys(names, cls))
            ours = repr(next(iter(names), None))
            self._elsewhere.update(dict.fromkeys(same, f" It is called {ours} here."))
            self._elsewhere.update(dict.fromkeys(near, f" The nearest is {ours}."))
            self._elsewhere.update({name: f" {words}" for name, words in said.items()})
            self.classes.append(cls)
            return cls

        return join

    def name_of(self, part: Any) -> str | None:
        """Return the first name of a part's class, or None if it has no name or is not registered."""
        return next((name for name, cls in self._by_name.items() if cls is type(part)), None)

    def defaults(self) -> list[Any]:
        """Return one part of every class that has a name, with its default settings."""
        return [cls() for cls in dict.fromkeys(self._by_name.values())]

    def resolve(self, spec: Any) -> Any:
        """Return the part called `spec`, or `spec` itself if it has the methods of one."""
        if isinstance(spec, str):
            return self.named(spec)()
        if isinstance(spec, type):
            raise TypeError(f"A {self.noun} is an object, not a class: pass {spec.__name__}().")
        missing = [verb for verb in self.verbs if not callable(getattr(spec, verb, None))]
        if missing:
            raise TypeError(
                f"A {self.noun} is a name or an object with {' and '.join(self.verbs)}; "
                f"{type(spec).__name__} has no {' and no '.join(missing)}.{self._elsewhere.get(str(spec), '')}"
            )
        return spec

    def named(self, name: str) -> Any:
        """Return the class called `name`; the error for a wrong name says which one may be meant, and lists all."""
        if name in self._by_name:
            return self._by_name[name]
        names = ", ".join(sorted(self._by_name))
        raise ValueError(f"There is no {self.noun} {name!r}.{self.hint(name)} The names are: {names}.")

    def hint(self, name: str) -> str:
        """Return a sentence about a wrong name: what it is called here, or which name it resembles."""
        return self._elsewhere.get(name) or nearest(name, self._by_name)

    def __getitem__(self, name: str) -> Any:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def refusal(who: str, what: str, why: str, would_do: str) -> ValueError:
    """Return the error for two parts that cannot be combined."""
    return ValueError(f"{who} cannot handle {what}: {why} {would_do}")


def settings(part: Any) -> dict[str, Any]:
    """Return the settings of a part (a frozen record) by name."""
    return {f.name: getattr(part, f.name) for f in fields(part)}


class Settings:
    """A frozen record with scikit-learn's parameters, such as ``method__step``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name."""
        return settings(self)

    def set_params(self, **params: Any) -> Any:
        """Change settings in place, for scikit-learn's grid search, which works on copies."""
        changed = type(self)(**{**settings(self), **params})
        for name, value in settings(changed).items():
            object.__setattr__(self, name, value)
        return self


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
