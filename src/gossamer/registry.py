"""Parts by name: ``@PENALTIES.part("l1")`` registers a class.

"l1" then stands for `L1()`, a wrong name lists the right ones, and an object stands for itself. What the library must
know about a part is on its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


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

    def part(self, *names: str, same: tuple[str, ...] = (), near: tuple[str, ...] = ()) -> Callable[[Class], Class]:
        """Return the decorator that registers a class under these names, or without a name.

        `same` are names that other libraries have for this part, `near` their names of parts that are not here and to
        which this one is the nearest. They are no names of ours: the error for them says what to use.
        """

        def join(cls: Class) -> Class:
            for name in (*names, *same, *near):
                if name in self._by_name or name in self._elsewhere:
                    owner = self._by_name[name].__name__ if name in self._by_name else "a name of another library"
                    raise ValueError(f"There is a {self.noun} {name!r} already: {owner}.")
            self._by_name.update(dict.fromkeys(names, cls))
            ours = repr(next(iter(names), None))
            self._elsewhere.update(dict.fromkeys(same, f" It is called {ours} here."))
            self._elsewhere.update(dict.fromkeys(near, f" The nearest is {ours}."))
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
        import difflib

        near = difflib.get_close_matches(name, self._by_name, n=1)
        return self._elsewhere.get(name) or (f" Did you mean {near[0]!r}?" if near else "")

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
