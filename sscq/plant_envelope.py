"""The envelope of a plant that declares none: what its own control situations span, and some more of what varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.excitation import Constant, Step, WhiteNoise
from sscq.envelope import Envelope, Range, shared_limits
from sscq.situation_sets import standard_sets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plants import Plant
    from plants.excitation import Part, Signal
    from sscq.situation import Situation

_SPREAD = 0.3  # of parameters that the plant's own situations leave alone, relative
_NOISE = 0.02  # sensor noise, in channel scales
_DELAYED = 4  # controller samples
_AUTHORITY = 0.7


def usual_envelope(plant: Plant, sample_time: float | None = None) -> Envelope:
    """Return the ranges that a plant's control situations span.

    Parameters
    ----------
    plant : Plant
    sample_time : float, optional
        Of the controller [s]; left out, the plant's integration step. Delays come in samples.

    Returns
    -------
    Envelope
        Initial states, references, loads and white noise between the least and the most of taught, validation and
        unforeseen situations, the plant's own or made from its channels. Parameters that these change span what they
        give them, all others +-30 % of their nominal value inside their bounds. Sensor noise up to 2 % of the
        channel's scale, command delays up to four samples, actuators with 70 to 100 % of their range where this is
        defined; more where the situations have more.
    """
    several = [situation for group in standard_sets(plant).values() for situation in group]
    period = plant.step if sample_time is None else sample_time
    slowest = max([_DELAYED * period, *(s.delay for s in several)])
    noises = [part for s in several for signal in s.excitations(plant) for part in _noises(signal)]
    return Envelope(
        parameters=_parameters(plant, several),
        initial=_initial(plant, several),
        reference={
            c.output: _span([_height(s.references(plant)[i]) for s in several]) for i, c in enumerate(plant.channels)
        },
        load=_disturbances(plant, [[_load(signal) for signal in s.excitations(plant)] for s in several]),
        excitation=_disturbances(plant, [[_deviation(signal) for signal in s.excitations(plant)] for s in several]),
        noise=_sensor_noise(plant, several),
        delay=(0.0, round(slowest / period) * period),
        authority=(_AUTHORITY, 1.0) if shared_limits(plant) is not None else (1.0, 1.0),
        delay_step=_delay_step(plant, period),
        hold=min((part.hold for part in noises), default=10.0 * period),
        t_end=max(s.t_end for s in several),
    )


def _parameters(plant: Plant, several: Sequence[Situation]) -> dict[str, Range]:
    rows = [plant.values("parameters", s.parameters) for s in several]
    ranges = {}
    for quantity, values in zip(plant.parameters, zip(*rows, strict=True), strict=True):
        low, high = _span([quantity.nominal, *values])
        if low == high:
            ends = sorted(quantity.nominal * (1.0 + sign * _SPREAD) for sign in (-1.0, 1.0))
            low, high = max(ends[0], quantity.low), min(ends[1], quantity.high)
        if low < high:
            ranges[quantity.name] = (low, high)
    return ranges


def _initial(plant: Plant, several: Sequence[Situation]) -> dict[str, Range]:
    columns = zip(*(plant.values("states", s.initial) for s in several), strict=True)
    ranges = {q.name: _span([q.nominal, *values]) for q, values in zip(plant.states, columns, strict=True)}
    return {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}


def _disturbances(plant: Plant, table: Sequence[Sequence[float]]) -> dict[str, Range]:
    """Ranges from rest of a table [situation, disturbance], of what is not at rest throughout."""
    ranges = {q.name: _span([q.rest, *(row[i] for row in table)]) for i, q in enumerate(plant.disturbances)}
    return {q.name: ranges[q.name] for q in plant.disturbances if ranges[q.name] != (q.rest, q.rest)}


def _sensor_noise(plant: Plant, several: Sequence[Situation]) -> dict[str, Range]:
    ranges = {}
    for channel in plant.channels:
        place = plant.index("measurements", channel.output)
        most = max(s.noise_levels(plant)[place] for s in several)
        ranges[channel.output] = (0.0, max(most, _NOISE * channel.scale))
    return ranges


def _delay_step(plant: Plant, period: float) -> float:
    """A sample; where the plant's own dead time varies, as many as divide its span into some ten steps."""
    if plant.input_delay is None:
        return period
    nominal = plant.nominal()[plant.index("parameters", plant.input_delay)]
    return period * max(1, round(2.0 * _SPREAD * nominal / (10.0 * period)))


def _span(values: Iterable[float]) -> Range:
    ordered = sorted(values)
    return ordered[0], ordered[-1]


def _sum(signal: Signal, kind: type[Part], name: str) -> float:
    return float(sum(getattr(part, name) for part in signal.parts if type(part) is kind))


def _height(signal: Signal) -> float:
    """Where a reference ends: its constants and steps."""
    return _sum(signal, Constant, "level") + _sum(signal, Step, "height")


def _load(signal: Signal) -> float:
    """Constants and steps of a disturbance."""
    return _height(signal)


def _noises(signal: Signal) -> list[WhiteNoise]:
    return [part for part in signal.parts if isinstance(part, WhiteNoise)]


def _deviation(signal: Signal) -> float:
    """Standard deviation of the white noise of a signal."""
    return sum(part.variance for part in _noises(signal)) ** 0.5
