"""Situations of an envelope as genomes: one gene for each range, so that a search or a draw is one of numbers."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.plant import StartWarning
from plants.excitation import Constant, Part, Ramp, Signal, Sine, Step, WhiteNoise
from sscq.loop.loss_at_rest import loss_at_rest
from sscq.search.box import Box
from sscq.situations.situation import Situation
from sscq.worst.envelope import PATHS, Envelope, shared_limits, situations_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from plants import Plant

_QUANTITIES = {
    "parameters": "parameters", "initial": "states", "reference": "measurements", "load": "disturbances",
    "excitation": "disturbances", "noise": "measurements",
}  # fmt: skip
_EXCITATION_OF = "excitations_of"  # which of them
_TOGETHER = "together"  # which of the parameter sets
_LOAD_AT = 0.5  # of the horizon
_RAMP = 0.25  # of the horizon
_PERIODS = 2.0  # of a sine in a horizon
_DRAWS = 1  # their stream of random numbers; searches are seeded with the seed alone
_ROUNDING = 1e-6  # relative: times are given in decimals
_MOST_QUANTA = 1e15  # that doubles count


def begins(plant: Plant, situation: Situation, step: float | None = None) -> bool:
    """Whether a situation can be simulated: the plant starts there, and can rest where its loss at rest is asked for.

    A closed chain refuses starts and parameters with which nothing closes it; a heater too weak for the reference has
    no rest there. `step` is the integration step [s]; left out, the plant's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartWarning)  # states of a draw that move follow the constraints
        try:
            if plant.admissible is not None:
                plant.start(situation.initial, situation.parameters)
            if plant.loses_at_rest:
                loss_at_rest(plant, situation, step or plant.step)
        except ValueError:
            return False
    return True


@dataclass(frozen=True)
class EnvelopeAxis:
    """One gene: `name` such as "parameters.mu", its range and unit, and its quantum (0: any number in the range)."""

    name: str
    low: float
    high: float
    unit: str = ""
    quantum: float = 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the gene: quanta are counted."""
        if not self.quantum:
            return self.low, self.high
        if self.high / self.quantum > _MOST_QUANTA:
            raise ValueError(
                f"envelope: {self.quantum:g} {self.unit} is too small a part of {self.name}; say a larger one"
            )
        low = math.ceil(self.low / self.quantum - _ROUNDING)
        high = math.floor(self.high / self.quantum + _ROUNDING)
        if low > high:
            raise ValueError(
                f"envelope: no multiple of {self.quantum:g} {self.unit} lies in the range of {self.name}, "
                f"[{self.low:g}, {self.high:g}]; use a smaller delay_step"
            )
        return float(low), float(high)


class EnvelopeGenes:
    """The genes of an envelope.

    Parameters
    ----------
    settings : mapping, optional
        Of every situation, in place of what is drawn, such as {"dropout": 0.1}.

    Attributes
    ----------
    axes : tuple of EnvelopeAxis
    box : Box
        Ranges of the genes; those of a quantum are step genes, ranges without width are fixed.
    """

    def __init__(self, plant: Plant, envelope: Envelope, settings: Mapping[str, Any] | None = None) -> None:
        envelope.check(plant)
        self.plant, self.envelope, self._settings = plant, envelope, dict(settings or {})
        self.axes = tuple(self._axes())
        bounds = [axis.bounds for axis in self.axes]
        scale = tuple("step" if axis.quantum else "linear" for axis in self.axes)
        low, high = (tuple(ends) for ends in zip(*bounds, strict=True))
        self.box = Box(low, high, scale, tuple(axis.name for axis in self.axes))
        rest = plant.outputs(
            0.0, plant.initial(), tuple(q.nominal for q in plant.inputs), plant.calm(),
            plant.nominal(),
        )  # fmt: skip
        named = situations_by_name(plant) if envelope.excitations_of else {}
        self._excitations = [named[name].excitations(plant) for name in envelope.excitations_of]
        self._rest = {q.name: float(value) for q, value in zip(plant.measurements, rest, strict=True)}

    @property
    def ranges(self) -> list[EnvelopeAxis]:
        """The axes that are ranges of something, without what stands still."""
        return [a for a in self.axes if a.name not in {"kind", "path", _EXCITATION_OF, _TOGETHER} and a.low != a.high]

    def _axes(self) -> Iterator[EnvelopeAxis]:
        plant, given = self.plant, self.envelope
        units = {kind: {q.name: q.unit for q in getattr(plant, kind)} for kind in _QUANTITIES.values()}
        for name, (low, high) in given.parameters.items():
            quantum = given.delay_step if name == plant.input_delay and low < high else 0.0
            yield EnvelopeAxis(f"parameters.{name}", low, high, units["parameters"][name], quantum)
        for group, kind in _QUANTITIES.items():
            for name, (low, high) in getattr(given, group).items() if group != "parameters" else ():
                yield EnvelopeAxis(f"{group}.{name}", low, high, units[kind][name])
        yield EnvelopeAxis("kind", 0.0, len(given.kinds) - 1.0, "", 1.0)
        yield EnvelopeAxis("delay", *given.delay, "s", given.delay_step if given.delay[0] < given.delay[1] else 0.0)
        yield EnvelopeAxis("authority", *given.authority)
        if given.rate_limit is not None:
            yield EnvelopeAxis("rate_limit", *given.rate_limit, "1/s")
        if given.together:
            yield EnvelopeAxis(_TOGETHER, 0.0, len(given.together) - 1.0, "", 1.0)
        if given.excitations_of:
            yield EnvelopeAxis(_EXCITATION_OF, 0.0, len(given.excitations_of) - 1.0, "", 1.0)
        random = bool(given.excitations_of) or any(
            high > 0.0 for group in (given.excitation, given.noise) for _, high in group.values()
        )
        yield EnvelopeAxis("path", 0.0, PATHS - 1.0 if random else 0.0, "", 1.0)

    def draw(self, n: int, seed: int) -> NDArray[np.float64]:
        """Return `n` genomes [n, n_genes], independent and uniform in every range."""
        return self.placed(np.random.Generator(np.random.PCG64([seed, _DRAWS])).random((n, self.box.n_genes)))

    def placed(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the genomes at shares [n, n_genes] in [0, 1) of every range."""
        low, high = np.array(self.box.low), np.array(self.box.high)
        steps = np.array(self.box.scale) == "step"
        return np.where(steps, low + np.floor(shares * (high - low + 1.0)), low + shares * (high - low))

    def values(self, genome: NDArray[np.float64]) -> dict[str, float]:
        """Return what a genome says, by the axes' names."""
        return {a.name: float(g * a.quantum if a.quantum else g) for a, g in zip(self.axes, genome, strict=True)}

    def genome(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the genome that says `values`: the inverse of :meth:`values`."""
        return np.array([round(values[a.name] / a.quantum) if a.quantum else values[a.name] for a in self.axes], float)

    def situation(self, genome: NDArray[np.float64]) -> Situation:
        """Return the situation that a genome describes; all have one name, and the path is their seed."""
        values, given, plant = self.values(genome), self.envelope, self.plant

        def group(name: str) -> dict[str, float]:
            start = f"{name}."
            return {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}

        kind = given.kinds[int(values["kind"])]
        one = given.together[int(values[_TOGETHER])] if given.together else {}
        found = Situation(
            name="envelope",
            reference={c.output: self._reference(c.output, group("reference"), kind) for c in plant.channels},
            excitation={q.name: self._disturbance(q.name, values) for q in plant.disturbances},
            parameters=group("parameters") | dict(one), initial=group("initial"), noise=group("noise"),
            delay=values["delay"],
            limits=self._limits(values["authority"]), rate_limit=values.get("rate_limit"),
            t_end=given.t_end, seed=int(values["path"]),
        )  # fmt: skip
        return replace(found, **self._settings) if self._settings else found

    def anchors(self) -> tuple[Situation, ...]:
        """Return situations that use together all that any situation of the envelope uses.

        Simulated beside others they keep what is compiled in, and so the kernel, the same whatever these are. Values
        of starts, parameters, references and loads are no part of that: where the plant refuses them, those nearest to
        its nominal ones stand in.
        """
        fullest = np.array([max(ends, key=abs) for ends in zip(self.box.low, self.box.high, strict=True)])
        names = [axis.name for axis in self.axes]
        place = names.index("kind")
        found = []
        for kind in range(len(self.envelope.kinds)):
            for number in range(max(1, len(self.envelope.excitations_of))):
                genome = fullest.copy()
                genome[place] = kind
                if self.envelope.excitations_of:
                    genome[names.index(_EXCITATION_OF)] = number
                one = self.situation(genome)
                found.append(one if begins(self.plant, one) else self._calm(genome))
        return tuple(found)

    def _calm(self, genome: NDArray[np.float64]) -> Situation:
        """Return the situation of a genome with what a plant may refuse as near to nominal as the ranges allow."""
        usual = {f"reference.{name}": value for name, value in self._rest.items()}
        for group in ("parameters", "initial", "load"):
            kind = _QUANTITIES[group]
            nominal = self.plant.calm() if group == "load" else [q.nominal for q in getattr(self.plant, kind)]
            names = [q.name for q in getattr(self.plant, kind)]
            usual |= {f"{group}.{name}": value for name, value in zip(names, nominal, strict=True)}
        values = self.values(genome)
        near = {a.name: min(max(usual.get(a.name, values[a.name]), a.low), a.high) for a in self.axes}
        one = self.situation(self.genome({**values, **{name: near[name] for name in near if name in usual}}))
        return one if begins(self.plant, one) else replace(one, initial=None, parameters=None)

    def _reference(self, name: str, heights: Mapping[str, float], kind: str) -> Signal:
        """Reference of an output: where it stands nominally, if there is no range for it."""
        rest, t_end = self._rest[name], self.envelope.t_end
        height = heights.get(name, rest)
        if kind == "step" or name not in heights:
            return Signal((Constant(height),))
        way = height - rest
        moved: Part = Ramp(way / (_RAMP * t_end), 0.0, _RAMP * t_end)
        if kind == "sine":
            moved = Sine(way, _PERIODS / t_end)
        return Signal((Constant(rest), moved))

    def _disturbance(self, name: str, values: dict[str, float]) -> Signal:
        given = self.envelope
        rest = self.plant.calm()[self.plant.index("disturbances", name)]
        parts: list[Part] = [Constant(rest)] if rest else []
        if self._excitations:
            chosen = self._excitations[int(values[_EXCITATION_OF])]
            parts = list(chosen[self.plant.index("disturbances", name)].parts)
        if name in given.load:
            parts.append(Step(values[f"load.{name}"] - rest, at=_LOAD_AT * given.t_end))
        if name in given.excitation:
            parts.append(WhiteNoise(values[f"excitation.{name}"] ** 2, hold=given.hold))
        return Signal(tuple(parts))

    def _limits(self, share: float) -> tuple[float, float] | None:
        """Limits of the actuators; None where all situations have all of it."""
        limits = shared_limits(self.plant)
        if self.envelope.authority == (1.0, 1.0) or limits is None:
            return None
        return share * limits[0], share * limits[1]
