"""Quality of control: what a rollout accumulates while it runs, and what is read off at its end.

All integrals are left sums over the integration steps. With several channels, errors are divided by the channel's
scale and summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.integrands import INTEGRANDS, Moment
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.names import unknown
from plants.core.presentation import html_table

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTLED = 0.02  # of the distance to be covered: the usual 2 % band


@dataclass(frozen=True)
class StepMoment(Moment):
    """What a measure may look at in one step; tuples have one entry per channel.

    Attributes
    ----------
    h : length of the step [s]
    progress : errors in the direction of the way to go, over its length: 1 at the start, 0 on target, < 0 beyond
    saturated : 1 where a command is at a limit, else 0
    """

    h: Any
    progress: tuple[Any, ...]
    saturated: Any


Update = Callable[[Any, StepMoment], Any]


def _integral(name: str) -> Update:
    return lambda old, m: old + INTEGRANDS[name].over(m.h, m)


STEP_MEASURES: dict[str, Update] = {
    **{name: _integral(name) for name in ("ise", "iae", "itae", "effort")},
    "overshoot": lambda old, m: _overshoot(old, m.progress),
    "settling_time": lambda old, m: where(_peak(m.progress) - SETTLED, m.t + m.h, old),
    **{name: _integral(name) for name in INTEGRANDS if name.startswith("entropy")},
    "saturated_time": lambda old, m: old + m.h * m.saturated,
    "peak_command": lambda old, m: maximum(old, _peak(m.command)),
}
"""Measures updated in every step: ``(old value, moment) -> new value``."""

SAMPLE_MEASURES = ("total_variation",)
"""Measures updated with each controller sample."""

ALL_MEASURES = (*STEP_MEASURES, *SAMPLE_MEASURES)


def _peak(values: tuple[Any, ...]) -> Any:
    """Largest magnitude of all channels."""
    peak = magnitude(values[0])
    for value in values[1:]:
        peak = maximum(peak, magnitude(value))
    return peak


def _overshoot(old: Any, progress: tuple[Any, ...]) -> Any:
    for one in progress:
        old = maximum(old, -one)
    return old


@dataclass(frozen=True)
class Quality:
    """Quality of control of every candidate in every situation; each array [situation, candidate].

    Of a rollout that diverged every measure reads infinite (of a plant's own one: what is worst, NaN where neither way
    is): one cut short has small integrals, and would look best to whoever compares them. What they were up to the
    divergence is in `until_lost`.

    Attributes
    ----------
    ise, iae, itae : integrals of e^2, |e|, t |e|; t from the latest jump of reference or load before
    effort : integral of u^2
    total_variation : sum of |u_k - u_{k-1}| over the controller's samples (actuator travel)
    overshoot : largest excess beyond the target, relative to the way from the initial output to it; of all channels
    settling_time : time after which the errors of all channels stay within 2 % of that way [s]; the horizon where they
        never do
    entropy_plant, entropy_controller : integral of T0 dS/dt [J]. Of plants that lose at rest (`loses_at_rest`) the
        excess over the loss at the equilibrium of the present reference is counted, here and in the differences
    entropy_difference, entropy_difference_abs : integral of their difference and of its magnitude [J]
    saturated_time : time with a command at a limit of its law, or an input that is sent at one of the situation [s]
    peak_command : largest |u|
    diverged_at : time at which the rollout left the plant's region [s], NaN where it did not
    loop_gain : in loop-free modes the largest gain of the plant's algebraic loop at the beginning of a step, else None;
        with more than two accelerations a bound that is never below it. From 1 on the results may mean nothing
    t_end : horizon of each situation [situation], s
    until_lost : measures by name as they were added up, of rollouts that diverged up to that time: for penalties and
        records that have `diverged_at` beside them
    worst : what own measures of lost rollouts read, by name; all others are infinite

    The plant's own measures are found by name like the others: ``quality["ride_comfort"]``.
    """

    situations: tuple[str, ...]
    t_end: np.ndarray
    diverged_at: np.ndarray
    until_lost: Mapping[str, np.ndarray]
    loop_gain: np.ndarray | None = None
    worst: Mapping[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> np.ndarray:
        """Return a measure by name."""
        known = self.__dict__.get("until_lost", {})
        if name in known:
            return self[name]
        if name in ALL_MEASURES:
            message = f"the measure {name!r} was not asked for in this evaluation; got {', '.join(known)}"
            raise AttributeError(message)
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        """Names for completion, the measures among them."""
        return sorted({*super().__dir__(), *self.until_lost})

    def __repr__(self) -> str:
        """As in ``<Quality of 2 candidates in 3 situations: iae, effort, ...>``."""
        (situations, candidates), names = self.failed.shape, ", ".join(self.until_lost)
        return f"<Quality of {candidates} candidates in {situations} situations: {names}>"

    def rows(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """Return head and rows of a table: situation, candidate, every measure, whether it was lost."""
        values, n = self.values, self.failed.shape[1]
        found = [
            (name, k, *(float(one[i, k]) for one in values.values()), bool(self.failed[i, k]))
            for i, name in enumerate(self.situations)
            for k in range(n)
        ]
        return ("situation", "candidate", *values, "lost"), found

    def to_pandas(self) -> Any:
        """Return the same as a pandas DataFrame; pandas is not installed with this package."""
        import pandas as pd

        head, found = self.rows()
        return pd.DataFrame(found, columns=list(head))

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return html_table(*self.rows())

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a measure by name, built-in or the plant's own."""
        if name not in self.until_lost:
            raise KeyError(unknown("measure of this evaluation", name, tuple(self.until_lost)))
        return np.where(self.failed, self.worst.get(name, np.inf), self.until_lost[name])

    @property
    def values(self) -> dict[str, np.ndarray]:
        """All measures by name."""
        return {name: self[name] for name in self.until_lost}

    @property
    def failed(self) -> np.ndarray:
        """Whether the rollout diverged [situation, candidate]."""
        return np.isfinite(self.diverged_at)
