"""Vowpal Wabbit text: named features, hashed or numbered in the order in which they appear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.sources.named import NamedFeatures, check_bits
from gossamer.sources.text import TextSource

if TYPE_CHECKING:
    from gossamer.validation import Array

BITS = 18


class Vw(TextSource):
    """`label importance 'tag|namespace:scale name:value …` lines. `bits=0` numbers names in their order."""

    def __init__(self, paths: Any, *, bits: int = BITS, **options: Any) -> None:
        super().__init__(paths, **options)
        self.named = NamedFeatures(check_bits(bits))
        self.features = self.named.size

    def _make_parser(self) -> Any:
        return _core.VwParser(self.named.names, self.limits)

    def _width(self, width: int) -> int:
        return self.features or width

    def name(self, feature: int) -> str | None:
        return self.named.name(feature)

    def other_name(self, feature: int) -> str | None:
        return self.named.other(feature)

    @property
    def collisions(self) -> int:
        return int(self.named.names.collisions)

    def settings(self) -> dict[str, Any]:
        return {"format": "vw", "bits": self.named.bits}

    def recall(self, features: Array, names: list[str] | None) -> Array:
        if self.named.bits or names is None:
            return features
        import numpy as np

        return np.array([self.named.number(name) for name in names], np.int64)

    def state(self) -> dict[str, Any]:
        return {"names": self.named.names.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.named.names.restore(state["names"])
