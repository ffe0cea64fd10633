"""What a plant loses at its set points, as a signal over time: the measures of entropy production count the excess.

A heater, a tank or a reactor dissipates while it stands still. That loss is the price of the set point, not of the
control: left in, the fitness would reward a controller for missing a set point that is dear to hold. So for plants that
declare `loses_at_rest` the loss rate at the equilibrium of the present reference is taken off.

The equilibrium is that of the present reference under the loads that are held: constants, steps and ramps of the
disturbances. Noise and periodic loads count as their mean 0, random parts of references too; a recorded reference
counts as recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.equilibrium import Equilibria
from plants.core.motion.simulate import count_steps
from plants.core.signals import noise
from plants.excitation import Constant, Ramp, Recorded, Signal, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants import Plant
    from plants.excitation import Part
    from sscq.situations.situation import Situation

    Values = Callable[[float], list[float]]

_HELD = (Constant, Step)
_NODES = 256  # of a reference that varies smoothly, over the horizon; the loss is linear between them


def loss_at_rest(plant: Plant, situation: Situation, step: float) -> Signal:
    """Return the loss rate T0 dS/dt [W] at the equilibrium of the present reference, over a situation.

    Parameters
    ----------
    plant : Plant
    situation : Situation
    step : float
        Integration step [s].

    Returns
    -------
    Signal
        A constant and steps where references and loads are held; a series where they vary.

    Raises
    ------
    ValueError
        If the plant cannot rest on the references; the message names the situation.
    """
    loads = (Signal(tuple(p for p in s.parts if isinstance(p, (*_HELD, Ramp)))) for s in situation.excitations(plant))
    task = _RestTask(
        tuple(situation.references(plant)), tuple(loads), plant.values("parameters", situation.parameters),
        situation.t_end, step,
    )  # fmt: skip
    try:
        return _loss(_Same(plant), task)
    except ValueError as error:
        message = f"situation {situation.name!r}: {error}; a plant that cannot rest must not declare loses_at_rest"
        raise ValueError(message) from error


@dataclass(frozen=True)
class _RestTask:
    """All that the loss at rest hangs on beside the plant: repetitions of a situation share it."""

    references: tuple[Signal, ...]
    loads: tuple[Signal, ...]
    parameters: tuple[float, ...]
    t_end: float
    step: float


@dataclass(frozen=True, eq=False)
class _Same:
    """A plant as a key: the very object, which is kept, not one that looks like it."""

    plant: Plant

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.plant is self.plant

    def __hash__(self) -> int:
        return id(self.plant)


@lru_cache(maxsize=4096)
def _loss(same: _Same, task: _RestTask) -> Signal:
    """The signal of a task; kept, since a verdict repeats each situation many times for every controller."""
    parts = [part for signal in (*task.references, *task.loads) for part in signal.parts]
    equilibria = Equilibria(same.plant, task.parameters)

    def loss(t: float) -> float:
        return equilibria.at(_values(task.references, t, task.step), _values(task.loads, t, task.step)).loss

    known = [part for part in parts if not part.random or isinstance(part, Recorded)]
    if all(isinstance(part, _HELD) for part in known):
        return Signal(_held(loss, sorted(part.at for part in known if isinstance(part, Step))))
    times = _times(known, task.t_end, task.step)
    return Signal((Constant(0.0), Recorded(tuple(times), tuple(loss(t) for t in times), "linear")))


def _held(loss: Callable[[float], float], jumps: Sequence[float]) -> tuple[Part, ...]:
    """The loss at the start, then what each jump adds: as many steps as references and loads have, for one kernel."""
    times = [0.0, *(max(0.0, jump) for jump in jumps)]
    rates = [loss(t) for t in times]
    steps = (Step(b - a, at) for (a, b), at in zip(pairwise(rates), times[1:], strict=True))
    return (Constant(rates[0]), *steps)


def _times(parts: Sequence[Part], t_end: float, step: float) -> list[float]:
    """Times at which the loss is found: all steps where a reference jumps about, else a grid and each jump's sides."""
    n_steps = count_steps(t_end, step)
    ragged = any(part.jumps and not isinstance(part, Step) for part in parts)
    places = np.arange(n_steps + 1) if ragged else np.linspace(0, n_steps, min(n_steps, _NODES) + 1).round()
    jumps = [part.at / step for part in parts if isinstance(part, Step) and 0.0 < part.at < t_end]
    sides = [place for jump in jumps for place in (np.ceil(jump - 1e-6) - 1.0, np.ceil(jump - 1e-6))]
    return (np.unique([*places, *sides]) * step).tolist()


def _values(signals: Sequence[Signal], t: float, step: float) -> list[float]:
    return [sum((_value(part, t, step) for part in signal.parts), 0.0) for signal in signals]


def _value(part: Part, t: float, step: float) -> float:
    """Value of a part at a step's time; of random ones only what is recorded is known."""
    feed = part.feed(step)
    if not part.random:
        return float(part.value(t, part.settings(step), 0.0))
    if feed.code != noise.RECORDED or feed.every is None:
        return 0.0
    sample = min(int(t / feed.every + 1e-6), len(feed.series) - 1)
    return float(part.value(t, part.settings(step), feed.series[sample]))
