"""The control task of a plant that declares none: steps of the reference, sized and timed by what the plant says.

Sizes come from the channels' scale, or reach to the ends of the declared ranges, and are shortened to what the outputs'
bounds and the command limits allow; the horizon comes from the plant's slowest mode; noise from the disturbances'
nominal values. Nothing leaves a range that the plant declares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plants.core.analysis.linearise import linearise
from plants.excitation import WhiteNoise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants import Channel, Plant

    Ranges = Mapping[str, tuple[float, float]]


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
    return _without_repetitions({
        "taught": [
            task.step("step", 1.0, 1), task.step("opposite step", -1.0, 2), task.step("small step", 0.3, 3),
            task.returning("return", -0.8, 4),
        ],
        "validation": [task.step("larger step", 1.3, 6), task.step("smaller opposite step", -0.6, 7)],
        "unforeseen": [
            task.step("far step", FARTHEST, 11), task.step("far opposite step", -FARTHEST, 12),
            *([task.step("doubled noise", 1.0, 13, noise_factor=2.0)] if task.noise else []),
            *([task.step("delayed command", -1.0, 14, delay=task.delay)] if task.delay else []),
            *(task.changed("changed plant", number) for number in range(2 if task.varied else 0)),
        ],
    })  # fmt: skip


def _without_repetitions(sets: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Of unforeseen situations, those that narrow ranges make equal to a known one but for their noise are left out."""

    def said(one: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in one.items() if key not in {"name", "seed"}}

    known = [said(one) for kind in ("taught", "validation") for one in sets[kind]]
    return {**sets, "unforeseen": [one for one in sets["unforeseen"] if said(one) not in known]}


@dataclass(frozen=True)
class _GenericTask:
    plant: Plant
    noise: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        usual = {q.name: q.nominal for q in self.plant.disturbances if q.nominal > 0.0}
        declared = self.plant.ranges.excitation
        if declared is not None:
            usual = {name: _inside(level, declared[name]) for name, level in usual.items() if name in declared}
        object.__setattr__(self, "noise", usual)

    @property
    def delay(self) -> float:
        """A thousandth of the horizon, or the longest delay that the plant declares [s]."""
        declared = self.plant.ranges.delay
        return self.horizon / 1000.0 if declared is None else declared[1]

    @cached_property
    def varied(self) -> Ranges:
        """Ends that parameters are moved to."""
        bounds = {q.name: (q.low, q.high) for q in self.plant.parameters}
        declared = self.plant.ranges.parameters
        bounds = bounds if declared is None else {name: ends for name, ends in declared.items() if ends[0] < ends[1]}
        usual = {q.name: q.nominal for q in self.plant.parameters}
        ends = {name: [usual[name] * (1.0 + sign * _SPREAD) for sign in (-1.0, 1.0)] for name in bounds}
        return {name: (_inside(low, bounds[name]), _inside(high, bounds[name])) for name, (low, high) in ends.items()}

    def step(self, name: str, size: float, seed: int, noise_factor: float = 1.0, **more: Any) -> dict[str, Any]:
        """A step of all references by `size` channel scales, from the nominal state."""
        most = {key: ends[1] ** 2 for key, ends in (self.plant.ranges.excitation or {}).items()}
        variances = {key: min(noise_factor * u**2, most.get(key, math.inf)) for key, u in self.noise.items()}
        excitation = {key: WhiteNoise(variance, hold=self.horizon / _HELD) for key, variance in variances.items()}
        reference = {c.output: self._led(c, self._away(c, size)) for c in self.plant.channels}
        return {
            "name": name, "reference": reference, "excitation": excitation, "t_end": self.horizon, "seed": seed, **more
        }  # fmt: skip

    def returning(self, name: str, size: float, seed: int) -> dict[str, Any]:
        """Back to rest from outputs that are `size` channel scales away; a step where an output is no state."""
        states, moved = [q.name for q in self.plant.states], {}
        declared = self.plant.ranges.initial
        starts = states if declared is None else declared.keys()
        for channel in self.plant.channels:
            if channel.output not in states or channel.output not in starts:
                return self.step(name, 0.6, seed)
            away = self._away(channel, size)
            moved[channel.output] = away if declared is None else _inside(away, declared[channel.output])
        if declared is not None and all(moved[c.output] == self._rest[c.output] for c in self.plant.channels):
            return self.step(name, 0.6, seed)
        return self.step(name, 0.0, seed, initial=self._placed(moved))

    def changed(self, name: str, number: int) -> dict[str, Any]:
        """A step on a plant whose parameters are larger and smaller in turn: the first larger, or the first smaller."""
        places = {q.name: place for place, q in enumerate(self.plant.parameters)}
        values = {name: ends[(places[name] + number + 1) % 2] for name, ends in self.varied.items()}
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

    def _led(self, channel: Channel, value: float) -> float:
        """A reference inside the range that the plant declares for it."""
        declared = self.plant.ranges.reference or {}
        return _inside(value, declared[channel.output]) if channel.output in declared else value

    @cached_property
    def _reaches(self) -> dict[str, tuple[float, float]]:
        """Way of the farthest step of each channel, upwards and downwards."""
        return {c.output: (self._reach(c, 1.0), self._reach(c, -1.0)) for c in self.plant.channels}

    def _reach(self, channel: Channel, sign: float) -> float:
        """Way from rest that stays inside the output's bounds and can be held by a command within its limits."""
        plant, rest = self.plant, self._rest[channel.output]
        quantity = plant.measurements[plant.index("measurements", channel.output)]
        room = quantity.high - rest if sign > 0.0 else rest - quantity.low
        way = max(0.0, min(self._wished(channel, sign), _INSIDE * room))
        if channel.output not in [q.name for q in plant.states] or not self._holds({}):
            return way  # what the command can hold is not known
        held = (way * share for share in _SHARES if self._holds({channel.output: rest + sign * way * share}))
        return next(held, 0.0)

    def _wished(self, channel: Channel, sign: float) -> float:
        """Way of the farthest step that is asked for: to the end of the declared range, or in channel scales."""
        declared = self.plant.ranges.reference or {}
        if channel.output not in declared:
            return FARTHEST * channel.scale
        return sign * (declared[channel.output][sign > 0.0] - self._rest[channel.output])

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


def _inside(value: float, ends: tuple[float, float]) -> float:
    return min(max(value, ends[0]), ends[1])
