"""What a plant's declaration is made of: quantities and control channels, and the task that says what it is for.

Records alone. They stand below :mod:`plants.core.plant`, so that whatever takes a quantity need not know plants.
A rival is a control law of the plant's own field that competes with ours: constants to be tuned, and inputs made
of states (:func:`plants.core.plant.with_rival` puts it into the plant).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from plants.core.measures import Measure


@dataclass(frozen=True)
class Quantity:
    """A named number of a plant.

    Attributes
    ----------
    name : str
        Of its own among its kind.
    unit : str
        Documentation ("rad/s"), whose spelling `plants.check` knows; all numbers are SI.
    nominal : float
        Parameter value, or initial value of a state.
    low, high : float
        Region where the model holds; a rollout that leaves it counts as diverged.
    text : str
        One line of documentation.
    rest : float
        Of a disturbance: its value where nothing is given, as 1 of a friction scale.
    """

    name: str
    unit: str
    nominal: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    text: str = ""
    rest: float = 0.0


@dataclass(frozen=True)
class Channel:
    """One control loop: one measured output, one command, one PID.

    Attributes
    ----------
    output : str
        Name of the measurement that is controlled.
    rate : str, optional
        Name of the measurement of its rate, if there is one.
    scale : float
        Error that counts as large [unit of the output]; makes the errors of several channels comparable.
    low, high : float
        Command limits [unit of the input].
    collocated : bool
        The command is a force on the output's coordinate, so that kd * e'^2 is a power [W].
    gains_low, gains_high : tuple of float
        Box in which kp, ki, kd are searched, where a run gives no other. Where all of kd's is negative, the command
        acts against the output, and |kd| e'^2 counts as the entropy production of the derivative action.
    """

    output: str
    rate: str | None = None
    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    collocated: bool = True
    gains_low: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gains_high: tuple[float, float, float] = (10.0, 10.0, 10.0)

    @property
    def opposed(self) -> bool:
        """Whether a larger command makes the output smaller: the gains' box lies below 0."""
        return self.gains_low[2] < 0.0 and self.gains_high[2] <= 0.0


@dataclass(frozen=True)
class OperatingPoint:
    """Where margins are asked for: the state about which the plant is linearised, with the input that holds it.

    Attributes
    ----------
    name : str
    state : tuple of float
        In the order of the plant's states.
    parameters : mapping of str to float
        Those that are not nominal there.
    """

    name: str
    state: tuple[float, ...]
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Rival:
    """A law of the field, such as sky-hook damping of a car.

    Attributes
    ----------
    name, title, text : str
        Short name, what a table calls it, and its source with what it measures.
    constants : tuple of Quantity
        What is tuned: nominal values and finite bounds; at most as many as the plant has channels, or none.
    allocate : callable
        ``(t, x, constants, p) -> inputs``, executed with each controller sample; bounds of the inputs hold after it.
    """

    name: str
    title: str
    text: str
    constants: tuple[Quantity, ...]
    allocate: Callable[..., Any]


def finite_range(what: str, given: object, least: float = -math.inf) -> tuple[float, float]:
    """Return a range [low, high] of floats.

    Raises
    ------
    ValueError
        Where it is none: not two finite numbers in order, or below `least`.
    """
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ValueError(f"{what} must be [low, high], got {given!r}")
    low, high = (finite_number(what, end) for end in given)
    if not least <= low <= high:
        floor = "" if least == -math.inf else f"{least:g} <= "
        raise ValueError(f"{what} must be [low, high] with {floor}low <= high, got [{low:g}, {high:g}]")
    return low, high


def finite_number(what: str, given: object) -> float:
    """Return a finite number as a float; ValueError where it is none."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise ValueError(f"{what} must be a finite number, got {given!r}")
    return float(given)


def around(share: float, nominal: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return the range of +-`share` about each nominal value, by name: tolerances, for :class:`OperatingRanges`."""
    ends = {name: sorted(((1.0 - share) * value, (1.0 + share) * value)) for name, value in nominal.items()}
    return {name: (low, high) for name, (low, high) in ends.items()}


def checked_together(
    what: str, several: Sequence[Mapping[str, float]], ranges: Collection[str]
) -> tuple[dict[str, float], ...]:
    """Return parameter sets that belong together as plain numbers.

    Raises
    ------
    ValueError
        If they name different parameters, or some that have ranges of their own, or hold what is no number.
    """
    found = tuple({key: finite_number(f"{what}: {key}", value) for key, value in one.items()} for one in several)
    for one in found:
        if one.keys() != found[0].keys():
            raise ValueError(f"{what}: sets of parameters together must name the same, got {[*found[0]]} and {[*one]}")
    both = set(ranges) & set(found[0] if found else ())
    if both:
        raise ValueError(f"{what}: {', '.join(sorted(both))} must have either a range or sets together, got both")
    return found


_LISTS = {"excitations_of", "together"}  # what is no group of ranges


@dataclass(frozen=True)
class OperatingRanges:
    """What a plant meets in operation, as ranges [low, high]: situations are drawn from them, evenly in each.

    A group that is left out spans what the task's situations span, and what these leave alone some more
    (`sscq.usual_envelope`). A group that is given is complete: what it does not name keeps its nominal value.

    Attributes
    ----------
    parameters, initial : mapping of parameter or state to range, optional
        In the quantity's unit, inside its bounds.
    reference : mapping of channel output to range, optional
        Where references lead.
    load : mapping of disturbance to range, optional
        Steps at half the horizon.
    excitation : mapping of disturbance to range, optional
        Standard deviation of white noise.
    noise : mapping of measurement to range, optional
        Standard deviation of sensor noise.
    delay : range, optional
        Delay of the commands beside the plant's own dead time [s].
    authority : range, optional
        Share of the command limits that the actuators have.
    excitations_of : tuple of str
        Names of the task's situations: each draw has the disturbances of one of them, with random numbers of its own,
        and `load` and `excitation` on top. For what no range can say, such as roads and pushes.
    together : tuple of mappings of parameter to float
        Parameter sets that belong together, such as plants that were identified from a log: each draw is one of them,
        and `parameters` has ranges of others only.

    Raises
    ------
    ValueError
        Where a range is none.
    TypeError
        Where a group maps no names to ranges.
    """

    parameters: Mapping[str, tuple[float, float]] | None = None
    initial: Mapping[str, tuple[float, float]] | None = None
    reference: Mapping[str, tuple[float, float]] | None = None
    load: Mapping[str, tuple[float, float]] | None = None
    excitation: Mapping[str, tuple[float, float]] | None = None
    noise: Mapping[str, tuple[float, float]] | None = None
    delay: tuple[float, float] | None = None
    authority: tuple[float, float] | None = None
    excitations_of: tuple[str, ...] = ()
    together: tuple[Mapping[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Check what can be checked without the plant, and make all numbers floats."""
        object.__setattr__(self, "together", checked_together("operating ranges", self.together, self.parameters or {}))
        for name, given in self.given().items():
            least = -math.inf if name in ("parameters", "initial", "reference", "load") else 0.0
            what = f"operating ranges: {name}"
            if name in ("delay", "authority"):
                object.__setattr__(self, name, finite_range(what, given, least))
                continue
            if not isinstance(given, Mapping):
                raise TypeError(f"{what} must map names to [low, high], got {given!r}")
            checked = {key: finite_range(f"{what}[{key}]", ends, least) for key, ends in given.items()}
            object.__setattr__(self, name, checked)

    def given(self) -> dict[str, Any]:
        """Return the groups that are given, by name."""
        found = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in _LISTS}
        return {name: group for name, group in found.items() if group is not None}


@dataclass(frozen=True)
class ControlTask:
    """What a plant is for: where its control is taught and judged, by what measures, and beside whom.

    Every entry is optional.

    Attributes
    ----------
    situations : mapping of "taught", "validation", "unforeseen" to sequences of mappings
        Keyword arguments of `sscq.Situation`. Left empty, steps are made from the channels' scale, with noise of the
        disturbances' nominal values (standard deviation; 0: none).
    ranges : OperatingRanges
        From which further situations are drawn, to teach, to validate and to judge.
    operating_points : tuple of OperatingPoint
        Left empty: the equilibrium of the channels' references is not known and no margins are computed.
    measures : tuple of Measure
        Quality measures of its own beside the built-in ones; a closed loop carries those that are asked for.
    trade_off : tuple of str
        Names of own measures that its field trades off against one another, such as comfort and road holding; the
        first is minimised while the second is limited. Left empty: none is natural for it.
    rivals : tuple of Rival
        Control laws of the plant's own field, to be tuned and judged beside ours.
    """

    situations: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    operating_points: tuple[OperatingPoint, ...] = ()
    measures: tuple[Measure, ...] = ()
    trade_off: tuple[str, ...] = ()
    rivals: tuple[Rival, ...] = ()
    ranges: OperatingRanges = field(default_factory=OperatingRanges)
