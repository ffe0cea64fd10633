"""Sets of situations: a plant's own task, a task made from its channels, other seeds, other plants.

A plant that declares no task gets steps of the reference, sized and timed by what it says: sizes come from the
channels' scale, shortened to what the outputs' bounds and the command limits allow; the horizon from the plant's
slowest mode; noise from the disturbances' nominal values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.linearise import linearise
from plants.excitation import WhiteNoise
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants import Channel, Plant


KINDS = ("taught", "validation", "unforeseen")
SEED_STRIDE = 1_000  # between repetitions, so that neighbouring seeds of a task do not meet


def standard_sets(plant: Plant) -> dict[str, tuple[Situation, ...]]:
    """Return taught, validation and unforeseen situations of a plant: its own, or made from its channels."""
    given: Mapping[str, Sequence[Mapping[str, Any]]] = plant.situations or generic_task(plant)
    unknown = set(given) - set(KINDS)
    if unknown:
        message = f"plant {plant.name!r}: situations are {', '.join(KINDS)}; got {', '.join(sorted(unknown))}"
        raise ValueError(message)
    sets = {kind: tuple(Situation(**arguments) for arguments in given.get(kind, ())) for kind in KINDS}
    if not sets["taught"]:
        message = f"plant {plant.name!r}: its task has no taught situations"
        raise ValueError(message)
    return {kind: sets[kind] or sets["taught"] for kind in KINDS}


def repeated(situations: Sequence[Situation], number: int) -> tuple[Situation, ...]:
    """Return the same situations with the seeds of repetition `number`; number 0 is the situations themselves."""
    return tuple(replace(s, seed=s.seed + SEED_STRIDE * number) for s in situations)


def varied(
    plant: Plant, situations: Sequence[Situation], spread: float, count: int, seed: int
) -> tuple[Situation, ...]:
    """Return the situations for `count` plants whose parameters are spread uniformly by +-`spread` (relative).

    No parameter leaves its bounds. Every situation and plant gets a name of its own, so that their noise differs.
    """
    if count < 1 or not 0.0 <= spread < 1.0:
        message = f"varied plants need a count of at least 1 and a spread in [0, 1), got {count} and {spread}"
        raise ValueError(message)
    rng = np.random.Generator(np.random.PCG64(seed))
    names = [q.name for q in plant.parameters]
    low, high = (np.array([getattr(q, end) for q in plant.parameters]) for end in ("low", "high"))
    result = []
    for number in range(count):
        factors = 1.0 + spread * rng.uniform(-1.0, 1.0, len(names))
        for situation in situations:
            values = np.array(plant.values("parameters", situation.parameters)) * factors
            parameters = dict(zip(names, np.clip(values, low, high).tolist(), strict=True))
            result.append(replace(situation, name=f"{situation.name}, plant {number + 1}", parameters=parameters))
    return tuple(result)


FARTHEST = 1.6  # steps of the unforeseen situations, in channel scales
USUAL_HORIZON = 20.0  # s, for a plant whose modes tell nothing (a double integrator)
_HORIZON_MODES = 30.0  # horizon in time constants of the slowest mode, before rounding
_SHARES = (1.0, 0.8, 0.6, 0.4, 0.2)  # of the farthest step: the first that can be held is used
_INSIDE = 0.8  # of the way to an output's bound
_ROOM = 0.05  # of the other side's: less is no room for steps
_OTHER_WAY = 0.75  # size of the steps that go the other way for want of room
_HELD = 100  # noise values a horizon
_SLOWEST = 1e-6  # modes slower than this share of the fastest are integrators
_SPREAD = 0.2  # by which the parameters of plants that were not taught differ


def generic_task(plant: Plant) -> dict[str, list[dict[str, Any]]]:
    """Return taught, validation and unforeseen situations, as keywords of `sscq.Situation`.

    A disturbance whose nominal value is 0 is left out: nothing is known of its size.
    """
    if not plant.channels:
        message = f"plant {plant.name!r} has no control channels, so no situations can be made from them"
        raise ValueError(message)
    task = _GenericTask(plant)
    return {
        "taught": [
            task.step("step", 1.0, 1), task.step("opposite step", -1.0, 2), task.step("small step", 0.3, 3),
            task.returning("return", -0.8, 4),
        ],
        "validation": [task.step("larger step", 1.3, 6), task.step("smaller opposite step", -0.6, 7)],
        "unforeseen": [
            task.step("far step", FARTHEST, 11), task.step("far opposite step", -FARTHEST, 12),
            *([task.step("doubled noise", 1.0, 13, noise_factor=2.0)] if task.noise else []),
            task.step("delayed command", -1.0, 14, delay=task.horizon / 1000.0),
            *(task.changed("changed plant", number) for number in range(2 if plant.parameters else 0)),
        ],
    }  # fmt: skip


@dataclass(frozen=True)
class _GenericTask:
    plant: Plant
    noise: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        usual = {q.name: q.nominal for q in self.plant.disturbances if q.nominal > 0.0}
        object.__setattr__(self, "noise", usual)

    def step(self, name: str, size: float, seed: int, noise_factor: float = 1.0, **more: Any) -> dict[str, Any]:
        """A step of all references by `size` channel scales, from the nominal state."""
        excitation = {
            key: WhiteNoise(noise_factor * level**2, hold=self.horizon / _HELD) for key, level in self.noise.items()
        }
        reference = {c.output: self._away(c, size) for c in self.plant.channels}
        return {
            "name": name, "reference": reference, "excitation": excitation, "t_end": self.horizon, "seed": seed, **more
        }  # fmt: skip

    def returning(self, name: str, size: float, seed: int) -> dict[str, Any]:
        """Back to rest from outputs that are `size` channel scales away; a step where an output is no state."""
        states, moved = [q.name for q in self.plant.states], {}
        for channel in self.plant.channels:
            if channel.output not in states:
                return self.step(name, 0.6, seed)
            moved[channel.output] = self._away(channel, size)
        return self.step(name, 0.0, seed, initial=self._placed(moved))

    def changed(self, name: str, number: int) -> dict[str, Any]:
        """A step on a plant whose parameters are larger and smaller in turn: the first larger, or the first smaller."""
        values = {
            q.name: min(max(q.nominal * (1.0 + _SPREAD * (-1.0) ** (place + number)), q.low), q.high)
            for place, q in enumerate(self.plant.parameters)
        }
        return self.step(f"{name} {number + 1}", 1.0 - 2.0 * number, 15 + number, parameters=values)

    # --------------------------------------------------------------------------------------- what the plant tells

    @cached_property
    def _point(self) -> tuple[float, ...]:
        """The state at rest: the first operating point, else the nominal state."""
        points = self.plant.operating_points
        return tuple(points[0].state) if points else self.plant.initial()

    def _placed(self, moved: dict[str, float]) -> dict[str, float]:
        """The state at rest with some states moved; where constraints bind the others to them, they follow."""
        plant, names = self.plant, [q.name for q in self.plant.states]
        state = dict(zip(names, self._point, strict=True)) | moved
        if plant.admissible is None:
            return state
        places = [names.index(name) for name in moved]
        return dict(zip(names, plant.admissible(tuple(state.values()), plant.nominal(), places), strict=True))

    @cached_property
    def _rest(self) -> dict[str, float]:
        """Outputs at rest."""
        plant = self.plant
        u, w = tuple(q.nominal for q in plant.inputs), plant.calm()
        outputs = plant.outputs(0.0, self._point, u, w, plant.nominal())
        return {q.name: float(value) for q, value in zip(plant.measurements, outputs, strict=True)}

    def _away(self, channel: Channel, size: float) -> float:
        """Output `size` scales from rest, where that is possible.

        Shorter sides have all their steps shortened alike; where a side has no room, its steps go the other way.
        """
        up, down = self._reaches[channel.output]
        if min(up, down) < _ROOM * max(up, down):
            up, down = (up, -_OTHER_WAY * up) if up > down else (-_OTHER_WAY * down, down)
        return self._rest[channel.output] + size / FARTHEST * (up if size > 0.0 else down)

    @cached_property
    def _reaches(self) -> dict[str, tuple[float, float]]:
        """Way of the farthest step of each channel, upwards and downwards."""
        return {c.output: (self._reach(c, 1.0), self._reach(c, -1.0)) for c in self.plant.channels}

    def _reach(self, channel: Channel, sign: float) -> float:
        """Way from rest that stays inside the output's bounds and can be held by a command within its limits."""
        plant, rest = self.plant, self._rest[channel.output]
        quantity = plant.measurements[plant.index("measurements", channel.output)]
        room = quantity.high - rest if sign > 0.0 else rest - quantity.low
        way = max(0.0, min(FARTHEST * channel.scale, _INSIDE * room))
        if channel.output not in [q.name for q in plant.states] or not self._holds({}):
            return way  # what the command can hold is not known
        held = (way * share for share in _SHARES if self._holds({channel.output: rest + sign * way * share}))
        return next(held, 0.0)

    def _holds(self, moved: dict[str, float]) -> bool:
        """Whether commands within their limits can hold the plant with some states moved away from rest."""
        channels, names = self.plant.channels, [q.name for q in self.plant.states]
        others = [name for name in names if name not in {c.output for c in channels}]
        try:
            commands = linearise(self.plant, self._placed(moved), adjust=others, commands=True).input
        except ValueError:
            return False
        return all(c.low <= command <= c.high for c, command in zip(channels, commands, strict=True))

    @cached_property
    def horizon(self) -> float:
        """Horizon [s]: long enough for the slowest mode, a round number."""
        return horizon(self._poles(), self._dead_time())

    def _poles(self) -> Sequence[complex]:
        adjust = () if self.plant.operating_points else tuple(q.name for q in self.plant.states)
        points = self.plant.operating_points
        try:
            return list(linearise(self.plant, points[0] if points else None, adjust=adjust).poles)
        except ValueError:
            return []

    def _dead_time(self) -> float:
        plant = self.plant
        return 0.0 if plant.input_delay is None else plant.nominal()[plant.index("parameters", plant.input_delay)]


def horizon(poles: Sequence[complex], dead_time: float = 0.0) -> float:
    """Return the horizon [s] for a plant with these poles [1/s]: a power of ten times 1, 2 or 5."""
    speeds = [abs(pole) for pole in poles]
    speeds = [speed for speed in speeds if speed > _SLOWEST * max(speeds)]
    if not speeds:
        return USUAL_HORIZON
    wanted = _HORIZON_MODES * (1.0 / min(speeds) + dead_time)
    power = math.floor(math.log10(wanted))
    rounds = [float(f"{m}e{k}") for k in (power, power + 1) for m in (1, 2, 5)]
    return min(rounds, key=lambda value: abs(math.log(value / wanted)))


def at_delays(situations: Sequence[Situation], spans: Mapping[str, Sequence[float]]) -> tuple[Situation, ...]:
    """Return situations, and each of them with the least and with the largest delays behind them.

    Parameters
    ----------
    spans : mapping of "delay", "output_delay" to (least, largest)
        In seconds; what is not named stays.
    """
    ends: list[dict[str, Any]] = [{name: float(span[k]) for name, span in spans.items()} for k in (0, 1)]
    known = ends[:1] if ends[0] == ends[1] else ends
    return (*situations, *(replace(s, **change) for change in known if change for s in situations))
