"""Vowpal Wabbit text: named features, hashed or numbered in the order in which they appear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gossamer import _core
from gossamer.sources.columns import pairs_of
from gossamer.sources.feature_names import BITS, FeatureNames, check_bits
from gossamer.sources.text import TextSource


class Vw(TextSource):
    """`label importance 'tag|namespace:scale name:value …` lines. `bits=0` numbers names in their order."""

    names: FeatureNames

    def __init__(
        self, paths: Any, *, bits: int = BITS, interactions: Sequence[Sequence[str]] = (), **options: Any
    ) -> None:
        super().__init__(paths, **options)
        self.interactions = pairs_of(interactions)  # of namespaces, as VW's -q
        self.names = FeatureNames(check_bits(bits))
        self.features = self.names.size

    def _make_parser(self) -> Any:
        return _core.VwParser(self.names.table, self.limits, self.interactions)

    def _width(self, width: int) -> int:
        return self.features or width

    def settings(self) -> dict[str, Any]:
        crossed = {"interactions": [list(pair) for pair in self.interactions]} if self.interactions else {}
        return {"format": "vw", "bits": self.names.bits} | crossed
