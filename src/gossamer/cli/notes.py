"""What a run keeps besides the learner: the counts of the first pass, and the units of numbers."""

from __future__ import annotations

from typing import Any

from gossamer.cli.scaling import Scaling
from gossamer.cli.tally import Tally, checked


class Notes:
    """Notes of a run; a checkpoint keeps them."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.scaling: Scaling | None = None

    def state(self) -> dict[str, Any]:
        """Return the notes as JSON values and arrays."""
        return {"tally": self.tally.state(), "scaling": None if self.scaling is None else self.scaling.state()}

    @staticmethod
    def check(state: dict[str, Any] | None) -> tuple[dict[str, Any], Scaling | None] | None:
        """Return the counts and the units of a checkpoint, every value checked; None if it is an older one."""
        if state is None:
            return None
        tally = checked(state.get("tally") or {})
        scaling = state.get("scaling")
        return tally, None if scaling is None else Scaling.restored(scaling)

    def restore(self, kept: tuple[dict[str, Any], Scaling | None] | None, trainer: Any, passes: int) -> None:
        """Resume with what `check` returned."""
        if kept is None:
            self.tally.recall(trainer, passes)
        else:
            self.tally.restore(kept[0])
            self.scaling = kept[1]
