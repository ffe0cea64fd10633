"""The envelope of a controller: declared ranges of all that may differ from one control situation to another.

It says for which situations something is claimed. A search looks in it for the worst one, a statistical certificate
draws from it: independently and uniformly in every range. A plant that declares none gets what its own control
situations span, and some more of what varies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from controllers.settings import check as check_settings
from controllers.settings import setting
from plants.core.names import unknown
from plants.core.quantities import checked_together, finite_number, finite_range
from plants.excitation import Constant, Step, WhiteNoise
from sscq.situations.situation_sets import standard_sets
from sscq.worst.free_states import check_free, free_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plants import Plant
    from plants.excitation import Part, Signal
    from sscq.situations.situation import Situation


Range = tuple[float, float]
Ranges = Mapping[str, Range]

KINDS = ("step", "ramp", "sine")
PATHS = 2**20  # noise paths that a seed is drawn from: so many that two draws hardly ever share one
_BY_NAME = {"parameters": "parameters", "initial": "states", "load": "disturbances", "excitation": "disturbances",
            "noise": "measurements"}  # fmt: skip
_NOT_NEGATIVE = ("excitation", "noise")
_LATER = {"excitations_of", "together"}  # documents of before have none, and one that says nothing is left out


@dataclass(frozen=True)
class Envelope:
    """Ranges [low, high] of what situations may be; what is not named keeps its nominal value.

    Attributes
    ----------
    parameters, initial : mapping of plant parameter or state to range
        In the quantity's unit. The range of a parameter that is the plant's dead time keeps to multiples of
        `delay_step`.
    reference : mapping of channel output to range
        Height of the reference; of an output that is not named it is the nominal output.
    kinds : tuple of {"step", "ramp", "sine"}
        At once, in a quarter of the horizon, or as a sine about the nominal output with two periods a horizon.
    excitation : mapping of disturbance to range
        Each value of the noise is held for `hold`.
    delay : range
        In multiples of `delay_step`: situations of equal dead time are simulated together.
    authority : range
        The controller believes in all of it.
    excitations_of : tuple of str
        Names of the plant's own situations. Where there are any, every draw has the disturbances of one of them, with a
        noise path of its own; `load` and `excitation` come on top.
    together : tuple of mappings of plant parameter to float
        Parameter sets that belong together: every draw has one of them.

    Raises
    ------
    ValueError
        Where a range is none.
    """

    parameters: Ranges = setting(dict, "ranges of plant parameters: {mu: [0.5, 2]}")
    initial: Ranges = setting(dict, "ranges of initial states")
    reference: Ranges = setting(dict, "ranges of the reference of each controlled output")
    kinds: tuple[str, ...] = setting(("step",), "how the reference gets there", choices=KINDS)
    load: Ranges = setting(dict, "ranges of steps of the disturbances at half the horizon")
    excitation: Ranges = setting(dict, "ranges of the standard deviation of disturbing white noise")
    noise: Ranges = setting(dict, "ranges of the standard deviation of sensor noise")
    delay: Range = setting((0.0, 0.0), "range of the command's delay [low, high]", unit="s", low=0)
    authority: Range = setting((1.0, 1.0), "range of the share of the command limits that actuators have", above=0)
    rate_limit: Range | None = setting(None, "range of the actuators' largest speed", unit="1/s", above=0)
    delay_step: float = setting(0.01, "between neighbouring delays", unit="s", above=0)
    hold: float = setting(0.1, "time that white noise is held", unit="s", above=0)
    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    excitations_of: tuple[str, ...] = ()
    together: tuple[Mapping[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Check what can be checked without the plant, and make all numbers floats."""
        for name in (*_BY_NAME, "reference"):
            least = 0.0 if name in _NOT_NEGATIVE else -math.inf
            given = {
                key: finite_range(f"envelope: {name}[{key}]", value, least)
                for key, value in getattr(self, name).items()
            }
            object.__setattr__(self, name, given)
        object.__setattr__(self, "together", checked_together("envelope", self.together, self.parameters))
        for name in ("kinds", "excitations_of"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"envelope: kinds must be different ones of {', '.join(KINDS)}, got {self.kinds}")
        object.__setattr__(self, "delay", finite_range("envelope: delay", self.delay, 0.0))
        object.__setattr__(self, "authority", finite_range("envelope: authority", self.authority, 0.0))
        if self.rate_limit is not None:
            object.__setattr__(self, "rate_limit", finite_range("envelope: rate_limit", self.rate_limit, 0.0))
        check_settings(self, "envelope")
        for name in ("delay_step", "hold", "t_end"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def check(self, plant: Plant) -> None:
        """Raise ValueError where the ranges do not fit the plant: unknown names, values outside its bounds."""
        for name, kind in _BY_NAME.items():
            for key, (low, high) in getattr(self, name).items():
                quantity = getattr(plant, kind)[plant.index(kind, key)]
                if name in {"parameters", "initial"} and not quantity.low <= low <= high <= quantity.high:
                    raise ValueError(
                        f"envelope: {name}[{key}] must lie in [{quantity.low:g}, {quantity.high:g}] {quantity.unit}, "
                        f"got [{low:g}, {high:g}]"
                    )
        check_free(plant, list(self.initial))
        for one in self.together:
            plant.start(None, one)  # refuses unknown names and values out of bounds
        outputs = [channel.output for channel in plant.channels]
        for key in self.reference:
            if key not in outputs:
                raise ValueError(f"envelope: {unknown('controlled output', key, outputs)}")
        named = situations_by_name(plant)
        for key in self.excitations_of:
            if key not in named:
                raise ValueError(f"envelope: {unknown(f'situation of plant {plant.name!r}', key, list(named))}")
        if self.authority != (1.0, 1.0) and shared_limits(plant) is None:
            raise ValueError(
                f"envelope: authority needs the same finite command limits, with 0 between them, for all channels of "
                f"{plant.name!r}, and commands that are its inputs; leave it at [1, 1]"
            )

    def document(self) -> dict[str, Any]:
        """Return it as plain data; :meth:`from_document` reads it."""
        found = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return {name: value for name, value in found.items() if value or name not in _LATER}

    @classmethod
    def from_document(cls, given: object) -> Envelope:
        """Return the envelope that plain data describe.

        Raises
        ------
        ValueError
            For an unknown or missing name, or anything that is no range.
        """
        names = [f.name for f in fields(cls)]
        if not isinstance(given, dict) or not set(names) - _LATER <= set(given) <= set(names):
            raise ValueError(f"envelope: expected a mapping with the keys {', '.join(names)}, got {given!r}")
        wrong = [name for name in (*_BY_NAME, "reference") if not isinstance(given[name], dict)]
        if wrong:
            raise ValueError(f"envelope: {wrong[0]} must map names to [low, high], got {given[wrong[0]]!r}")
        if not all(isinstance(one, dict) for one in _listed(given.get("together", []))):
            raise ValueError("envelope: together must be a list of mappings of parameters to numbers")
        for name in ("kinds", "excitations_of"):
            words = given.get(name, [])
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise ValueError(f"envelope: {name} must be a list of words, got {words!r}")
        times = {name: finite_number(f"envelope: {name}", given[name]) for name in ("delay_step", "hold", "t_end")}
        return cls(**{**given, **times})

    def shared_out(self, number: int, of: int) -> Envelope:
        """Return it with every `of`-th of the parameter sets together: other numbers have others; itself without."""
        return replace(self, together=self.together[number::of]) if len(self.together) >= of else self


def _listed(given: object) -> list[Any]:
    return given if isinstance(given, list) else [given]


def situations_by_name(plant: Plant) -> dict[str, Situation]:
    """Return a plant's own situations, or those made from its channels; of several of one name the first."""
    several = [situation for group in standard_sets(plant).values() for situation in group]
    return {situation.name: situation for situation in reversed(several)}


def shared_limits(plant: Plant) -> Range | None:
    """Return the command limits that all inputs of a plant share and that leave them at rest, or None."""
    limits = {(channel.low, channel.high) for channel in plant.channels}
    if len(limits) != 1 or plant.allocate is not None or len(plant.inputs) != len(plant.channels):
        return None
    (low, high) = limits.pop()
    return (low, high) if -math.inf < low < 0.0 < high < math.inf else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


_SPREAD = 0.3  # of parameters that the plant's own situations leave alone, relative
_NOISE = 0.02  # sensor noise, in channel scales
_DELAYED = 4  # controller samples
_AUTHORITY = 0.7


def usual_envelope(
    plant: Plant,
    sample_time: float | None = None,
    sets: Mapping[str, Sequence[Situation]] | None = None,
    held: Sequence[Situation] = (),
) -> Envelope:
    """Return the ranges that a plant declares, and for groups that it does not those that its situations span.

    Parameters
    ----------
    plant : Plant
    sample_time : float, optional
        Of the controller [s]; left out, the plant's integration step. Delays come in samples.
    sets : mapping of names to sequences of Situation, optional
        Whose ranges; left out, those of the plant's own, or made from its channels.
    held : sequence of Situation
        What the plant declares is widened to hold these, as situations that a user gives.

    Returns
    -------
    Envelope
        What the plant's `ranges` give. Else: initial states, references, loads and white noise between the least and
        the most of taught, validation and unforeseen situations, the plant's own or made from its channels. Parameters
        that these change span what they give them, all others +-30 % of their nominal value inside their bounds.
        Sensor noise up to 2 % of the channel's scale, command delays up to four samples, actuators with 70 to 100 % of
        their range where this is defined; more where the situations have more.
    """
    several = [situation for group in (sets or standard_sets(plant)).values() for situation in group]
    period = plant.step if sample_time is None else sample_time
    noises = [part for s in several for signal in s.excitations(plant) for part in _noises(signal)]
    authority = (_AUTHORITY, 1.0) if shared_limits(plant) is not None else (1.0, 1.0)
    spans, declared = _spans(plant, several, period, room=True), plant.ranges.given()
    if "reference" in declared:  # of a channel that it leaves out what its situations ask for, not where it starts
        declared["reference"] = spans["reference"] | declared["reference"]
    if held:
        declared = _holding(declared, _spans(plant, held, period))
    ranges = {**spans, "authority": authority, **declared}
    together = plant.ranges.together
    ranges["parameters"] = {key: ends for key, ends in ranges["parameters"].items() if key not in (*together, {})[0]}
    return Envelope(
        **ranges,
        delay_step=_delay_step(plant, period, ranges["parameters"]),
        hold=min((part.hold for part in noises), default=10.0 * period),
        t_end=max(s.t_end for s in several),
        excitations_of=plant.ranges.excitations_of,
        together=together,
    )


def _spans(plant: Plant, several: Sequence[Situation], period: float, *, room: bool = False) -> dict[str, Any]:
    """Return what situations span, by group; with `room`, some more of parameters, noise and delay."""
    slowest = max([_DELAYED * period * room, *(s.delay for s in several)])
    heights = [[_height(signal) for signal in s.excitations(plant)] for s in several]
    deviations = [[_deviation(signal) for signal in s.excitations(plant)] for s in several]
    return {
        "parameters": _parameters(plant, several, _SPREAD * room),
        "initial": _initial(plant, several),
        "reference": {
            c.output: _span([_height(s.references(plant)[i]) for s in several]) for i, c in enumerate(plant.channels)
        },
        "load": _disturbances(plant, heights, plant.calm()),
        "excitation": _disturbances(plant, deviations, (0.0,) * len(plant.disturbances)),
        "noise": _sensor_noise(plant, several, _NOISE * room),
        "delay": (0.0, round(slowest / period) * period),
    }


def _holding(declared: Mapping[str, Any], spanned: Mapping[str, Any]) -> dict[str, Any]:
    """Return declared groups, widened to hold what is spanned."""
    found = dict(declared)
    for name in declared.keys() & spanned.keys():
        given, more = declared[name], spanned[name]
        if name == "delay":
            found[name] = _span([*given, *more])
        else:
            found[name] = given | {key: _span([*given.get(key, ends), *ends]) for key, ends in more.items()}
    return found


def _parameters(plant: Plant, several: Sequence[Situation], spread: float) -> dict[str, Range]:
    rows = [plant.values("parameters", s.parameters) for s in several]
    ranges = {}
    for quantity, values in zip(plant.parameters, zip(*rows, strict=True), strict=True):
        low, high = _span([quantity.nominal, *values])
        if low == high:
            ends = sorted(quantity.nominal * (1.0 + sign * spread) for sign in (-1.0, 1.0))
            low, high = max(ends[0], quantity.low), min(ends[1], quantity.high)
        if low < high:
            ranges[quantity.name] = (low, high)
    return ranges


def _initial(plant: Plant, several: Sequence[Situation]) -> dict[str, Range]:
    starts = [plant.start(s.initial, s.parameters) for s in several]
    columns = zip(*(x for x, _ in starts), strict=True)
    ranges = {q.name: _span([q.nominal, *values]) for q, values in zip(plant.states, columns, strict=True)}
    free = free_states(plant, [name for name, ends in ranges.items() if ends[0] < ends[1]], starts)
    return {name: ranges[name] for name in free}


def _disturbances(plant: Plant, table: Sequence[Sequence[float]], rest: Sequence[float]) -> dict[str, Range]:
    """Ranges from `rest` [disturbance] of a table [situation, disturbance], of what is not at rest throughout."""
    ranges = [_span([calm, *(row[i] for row in table)]) for i, calm in enumerate(rest)]
    found = zip(plant.disturbances, ranges, rest, strict=True)
    return {quantity.name: ends for quantity, ends, calm in found if ends != (calm, calm)}


def _sensor_noise(plant: Plant, several: Sequence[Situation], least: float) -> dict[str, Range]:
    ranges = {}
    for channel in plant.channels:
        place = plant.index("measurements", channel.output)
        most = max(s.noise_levels(plant)[place] for s in several)
        ranges[channel.output] = (0.0, max(most, least * channel.scale))
    return ranges


def _delay_step(plant: Plant, period: float, parameters: Ranges) -> float:
    """A sample; where the plant's own dead time varies, as many as divide its span into some ten steps."""
    if plant.input_delay is None:
        return period
    low, high = parameters.get(plant.input_delay, (0.0, 0.0))
    return period * max(1, round((high - low) / (10.0 * period)))


def _span(values: Iterable[float]) -> Range:
    ordered = sorted(values)
    return ordered[0], ordered[-1]


def _sum(signal: Signal, kind: type[Part], name: str) -> float:
    return float(sum(getattr(part, name) for part in signal.parts if type(part) is kind))


def _height(signal: Signal) -> float:
    """Where a reference or a load ends: its constants and steps."""
    return _sum(signal, Constant, "level") + _sum(signal, Step, "height")


def _noises(signal: Signal) -> list[WhiteNoise]:
    return [part for part in signal.parts if isinstance(part, WhiteNoise)]


def _deviation(signal: Signal) -> float:
    """Standard deviation of the white noise of a signal."""
    return sum(part.variance for part in _noises(signal)) ** 0.5
