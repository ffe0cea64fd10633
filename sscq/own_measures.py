"""A plant's own measures in a closed loop: their rows, what is done to them in every step, and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.elementary import where
from plants.core.kernel import ALIVE
from plants.core.measures import chosen
from plants.core.naming import unknown
from sscq.quality import ALL_MEASURES, Quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from plants.core.kernel import Design
    from plants.core.lanes import Lane
    from sscq.sampling import Sampling

    Array = NDArray[np.float64]

_TAKEN = frozenset({*ALL_MEASURES, *Quality.__dataclass_fields__, "failed", "fitness", "error", "entropy", "travel"})


def all_measures(plant: Plant) -> tuple[str, ...]:
    """Return the names of all measures that a plant's closed loops can have: the built-in ones, then its own."""
    for measure in plant.measures:
        if measure.name in _TAKEN:
            raise ValueError(
                f"plant {plant.name!r}: {measure.name!r} is a name that results of closed loops have already; "
                "give its measure another one"
            )
    return (*ALL_MEASURES, *(measure.name for measure in plant.measures))


def check_measures(names: Sequence[str], plant: Plant) -> tuple[str, ...]:
    """Return the measures asked for, each once, in their fixed order; unknown ones raise."""
    known = all_measures(plant)
    for name in names:
        if name not in known:
            raise ValueError(unknown("measure", name, known))
    return tuple(name for name in known if name in names)


def scales(plant: Plant, wanted: Iterable[str]) -> dict[str, float]:
    """Return what counts as large of those of the plant's own measures that are to be minimised.

    Raises
    ------
    ValueError
        For a measure that the plant does not have, or that does not say that less of it is better.
    """
    known = {measure.name: measure for measure in plant.measures}
    for name in wanted:
        if name not in known:
            of = f"measure of plant {plant.name!r} to minimise"
            raise ValueError(unknown(of, name, tuple(known)) if known else f"plant {plant.name!r} has no own measures")
        if known[name].less_is_better is not True:
            raise ValueError(
                f"the measure {name!r} of plant {plant.name!r} cannot be minimised: what is must be better "
                "when it is less; declare one that is, with less_is_better=True"
            )
    return {name: known[name].scale for name in wanted}


class OwnMeasures:
    """Those of a plant's measures that a closed loop carries; without any it does nothing.

    Parameters
    ----------
    plant : Plant
    names : sequence of str
        Measures asked for.
    step : float
        Integration step [s].
    """

    def __init__(self, plant: Plant, names: Sequence[str], step: float) -> None:
        self.measures, self.step = chosen(plant, names), step
        self.groups = tuple(f"m_{measure.name}" for measure in self.measures)

    def __bool__(self) -> bool:
        return bool(self.measures)

    def add_rows(self, design: Design) -> None:
        """Give every measure's states rows, the next of the kernel's results."""
        for group, measure in zip(self.groups, self.measures, strict=True):
            design.rows.add(group, measure.n_states)
        design.results = (*design.results, *self.groups)

    @property
    def width(self) -> int:
        """Number of states of all measures."""
        return sum(measure.n_states for measure in self.measures)

    def start(self) -> dict[str, tuple[float, ...]]:
        """Return the initial values of the rows."""
        return {group: measure.initial for group, measure in zip(self.groups, self.measures, strict=True)}

    def start_again(self, rows: Array, design: Design) -> None:
        """Put sums and peaks of workspaces [n, rows] back to where they start; filters go on."""
        for group, measure in zip(self.groups, self.measures, strict=True):
            old = rows[:, design.rows.span(group)]
            rows[:, design.rows.span(group)] = np.where(measure.remembered, old, measure.initial)

    def update(self, lane: Lane, sampling: Sampling) -> None:
        """Move the states of all measures by one step, in rollouts that are alive."""
        alive, t = lane.one(ALIVE), lane.uniform("t")
        u, w, p = sampling.motion.block(lane, t, t)
        r = sampling.refer(lane) if any(measure.references for measure in self.measures) else ()
        for group, measure in zip(self.groups, self.measures, strict=True):
            old = lane[group]
            new = measure.updated(t, lane["x"], u, w, p, old, self.step, r)
            lane[group] = tuple(where(alive, a, b) for a, b in zip(new, old, strict=True))

    def values(self, states: Array, time: Array) -> Array:
        """Return the measures [..., n] from their states [..., width], measured for so long [...] [s]."""
        found, first = np.empty((*states.shape[:-1], len(self.measures))), 0
        for k, measure in enumerate(self.measures):
            m = tuple(states[..., first + i] for i in range(measure.n_states))
            with np.errstate(all="ignore"):  # of rollouts that diverge
                found[..., k] = measure.value(m, time)
            first += measure.n_states
        return found

    def final(self, states: Array, steps: Array, total: int) -> Array:
        """Return the measures [n_out, n] of rollouts that got so far [n_out] in `total` steps.

        The step in which a rollout diverges is measured at its start.
        """
        return self.values(states, self.step * np.minimum(steps + 1.0, total))

    def running(self, states: Array, reached: int) -> Array:
        """Return the measures [n + 1, n_measures] as they would be if a recorded rollout had ended at each time.

        At the start, before anything is measured, they are those of the initial states over one step.
        """
        done = np.minimum(np.arange(len(states)), reached)
        return self.values(states, self.step * np.maximum(done, 1))

    def labels(self) -> tuple[list[str], list[str]]:
        """Return names and units."""
        return [measure.name for measure in self.measures], [measure.unit for measure in self.measures]
