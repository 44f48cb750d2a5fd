"""What all sources with named columns share: the look at their first rows, and the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer import _core
from gossamer.sources.base import Source
from gossamer.sources.columns import Columns
from gossamer.sources.feature_names import decoded
from gossamer.sources.roles import TargetKind, holds_numbers, target_kind

if TYPE_CHECKING:
    from gossamer.validation import Array

MOST_CLASSES = 1 << 16


def _stripped(cells: list[str | None]) -> list[str | None]:
    """Return cells without the blanks around them."""
    joined = "" if None in cells else "".join(cells)  # type: ignore[arg-type]
    if joined and joined.isprintable() and " " not in joined:  # there are none
        return cells
    return [None if cell is None else cell.strip() for cell in cells]


class Tabular(Source):
    """A source of a table. A form of tables implements `_peek`, which calls `_look` with its first rows."""

    def _tabulate(self, columns: dict[str, Any]) -> None:
        """Take the options of columns."""
        self.names = self.columns = Columns(**columns)
        self.classes = _core.NameTable(0, MOST_CLASSES)
        self._names: list[str] | None = None  # of the columns, in the order of the table
        self._head: dict[str, list[str | None]] = {}
        self._target_type = "number"  # what labels are: number, whole, truth or class
        self._known: list[str] = []  # the classes so far

    def settle(self) -> None:
        """Decide on the roles of the columns, from the first rows."""
        if self._names is None:
            self._peek()

    def _peek(self) -> None:
        raise NotImplementedError

    def head(self) -> dict[str, list[str | None]]:
        """Return the first rows: the cells of each column as strings, None where a value is missing."""
        if not self._head:
            self._names = None
            self._peek()
        return self._head

    @property
    def numbers(self) -> int:
        self.settle()
        return len(self.columns.numbers) + len(self.columns.dates)

    def target_kind(self) -> TargetKind:
        """Return what the target holds, as far as the first rows tell."""
        self.settle()
        return target_kind(self.head().get(self.columns.target or "", []))

    def _look(self, names: list[str], cells: list[list[str | None]], types: dict[str, str], where: str) -> None:
        """Take the names, the first cells and the types of the columns."""
        words = {"", *self.columns.missing_words}
        head = {
            name: [None if cell is None or cell in words else cell for cell in _stripped(column)]
            for name, column in zip(names, cells or [[] for _ in names], strict=True)
        }
        self.columns.settle(names, head, types, self.need_labels, where)
        self._names, self._head = names, head
        target = self.columns.target
        if target is not None and target in head:
            self._target_type = self._type_of_labels(
                [cell for cell in head[target] if cell is not None], types.get(target)
            )

    def _type_of_labels(self, filled: list[str], kind: str | None) -> str:
        if kind in ("truth", "whole"):
            return kind
        numbers = kind == "real" or (kind != "string" and holds_numbers(filled))
        if not self.need_labels and kind is None:  # labels that nobody needs may be anything
            numbers = numbers and all(holds_numbers([cell]) for cell in filled)
        return "number" if numbers or not filled else "class"

    def _explained(self, reason: str, name: str, cell: str) -> str:
        """Return why a cell is refused, in the words of its column."""
        role = self.columns.roles.get(name, "target" if name == self.columns.target else "number")
        holds = {"date": "dates", "weight": "weights", "offset": "offsets"}.get(role, "numbers")
        more = ""
        if role in ("number", "date"):
            more = (
                f", say that it stands for a missing value (missing=[{cell!r}]), or that the column holds words "
                f"(roles={{{name!r}: 'category'}})"
            )
        return f"{reason}; column {name!r} holds {holds}, and {cell!r} was found. Correct or empty the cell{more}"

    @property
    def _text_target(self) -> bool:
        return self._target_type == "class"

    def _labels(self, label: Array) -> Array | None:
        import numpy as np

        lacking = np.isnan(label)
        if len(label) and lacking.all():
            return None
        if self._target_type in ("truth", "whole") and not lacking.any():
            return label.astype(bool if self._target_type == "truth" else np.int64)
        if not self._text_target:
            return label
        self._known += [decoded(self.classes.name(i)) for i in range(len(self._known), len(self.classes))]
        names = np.array([*self._known, ""])
        return names[np.where(lacking, len(names) - 1, label).astype(np.int64)]

    def state(self) -> dict[str, Any]:
        found = {"columns": self._names, "text_target": self._text_target}
        return found | super().state() | {"classes": self.classes.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._names = state["columns"]
        self._target_type = "class" if state["text_target"] else "number"
        self.classes.restore(state["classes"])
