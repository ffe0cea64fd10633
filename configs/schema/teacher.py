"""Settings of the search that makes the teaching signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class TeacherConfig:
    """The search that makes the teaching signal; fields as in `sscq.Teacher`."""

    encoding: str = setting(
        "receding",
        "window after window, or all windows of a situation at once (stepwise: gains move by steps)",
        choices=("receding", "time_windows", "stepwise"),
    )
    gain_step: list[float] | None = setting(
        None, "gains move in steps of this size from their low on: one for all, or one each (0: any value)", low=0
    )
    most_steps: list[int] = setting(
        lambda: [1], "largest number of steps between two windows: one for all gains, or one each", low=1
    )
    pooling: str = setting(
        "rows",
        "weight of a taught situation in imitation: its rows as they are, the same for all, by 1 / J of fixed gains",
        choices=("rows", "equal", "reference"),
    )
    rounds: int = setting(
        1, "rounds of teaching; after the first, along the runs of the knowledge base of the round before", low=1
    )
    window: float | None = setting(
        None, "time between two decisions; null: a fortieth of the shortest taught situation", unit="s", above=0
    )
    horizon: float | None = setting(None, "how far ahead gains are judged; null: four windows", unit="s", above=0)
    continuations: int = setting(4, "fresh noise continuations that a gain set is averaged over", low=1)
    population: int = setting(24, "individuals in the search of one window", low=4)
    shrink: float = setting(0.05, "weight of the distance from the previous gains", low=0)
    clairvoyant: bool = setting(False, "let the search see the noise that will come; marked in the results")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.window is not None and self.horizon is not None and self.horizon < 2.0 * self.window:
            yield f"horizon must be at least two windows, got {self.horizon} s and {self.window} s"
        if self.encoding == "stepwise" and not self.gain_step:
            yield "gain_step is missing: encoding=stepwise needs the size of a step, such as gain_step=[0.5]"
        if self.encoding == "time_windows" and self.gain_step:
            yield f"gain_step = {self.gain_step} is for encoding=stepwise or receding, got encoding=time_windows"
