"""What the report knows about situations: what was run, what it scored, how it looked.

Every number may be NaN, and every part that is typed so may be `NotAvailable`: the page then says so, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

Group = Literal["taught", "validation", "unforeseen"]
GROUPS: tuple[Group, ...] = get_args(Group)

MEASURES = (
    "iae",
    "ise",
    "itae",
    "effort",
    "total_variation",
    "overshoot",
    "settling_time",
    "entropy_plant",
    "entropy_controller",
    "entropy_difference",
    "entropy_difference_abs",
)
"""What the table of all numbers shows of every plant."""

Array = np.ndarray
NAN = float("nan")
INF = float("inf")
FROM_FILE: Any = {"file": True}
"""Of fields that are not in `report.json`: another file of the run holds them."""


@dataclass(frozen=True)
class NotAvailable:
    """A part that the run could not give, with the reason in one sentence."""

    reason: str


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; `low` and `high` NaN: no interval was computed.

    Attributes
    ----------
    value, low, high : float
        In the unit of what is estimated; changes are relative, -0.31 is "31 % less".
    confidence : float
        Probability that the interval claims to cover, in (0, 1).
    """

    value: float
    low: float = NAN
    high: float = NAN
    confidence: float = 0.95

    @property
    def open(self) -> bool:
        """Whether the interval of a change holds 0: neither a gain nor a loss is proven."""
        return self.low <= 0.0 <= self.high

    def turned(self) -> Estimate:
        """A relative change seen from the other side: of B against A where this is of A against B."""
        value, low, high = (1.0 / (1.0 + c) - 1.0 if c > -1.0 else NAN for c in (self.value, self.high, self.low))
        return Estimate(value, low, high, self.confidence)


@dataclass(frozen=True)
class ChannelView:
    """One control loop: which output follows a reference, by which input, within which limits.

    Attributes
    ----------
    output, output_unit, command, command_unit : str
        Names and units of the controlled output and of the command u.
    low, high : float
        Limits of the command, in its unit; infinite: none.
    gain_units : tuple of str
        Of kp, ki, kd; empty: not known.
    """

    output: str
    output_unit: str
    command: str = "u"
    command_unit: str = ""
    low: float = -INF
    high: float = INF
    gain_units: tuple[str, ...] = ()


@dataclass(frozen=True)
class SituationInfo:
    """One situation (scenario).

    Attributes
    ----------
    name : str
        Unique.
    group : {"taught", "validation", "unforeseen"}
        What it was used for.
    text : str
        One line: reference, excitation, parameters, initial state, delay, noise.
    seeds : int
        Number of noise seeds that its numbers are means of.
    drawn : str
        Which of them the curves show, for example "seed 11".
    """

    name: str
    group: Group
    text: str = ""
    seeds: int = 1
    drawn: str = ""


@dataclass(frozen=True)
class OwnMeasure:
    """A quality measure of the plant's own.

    Attributes
    ----------
    name, title, unit, text : str
        The unit may be "1" or empty.
    less_is_better : bool or None
        None: neither, no mark.
    """

    name: str
    title: str
    unit: str = ""
    text: str = ""
    less_is_better: bool | None = True

    @property
    def heading(self) -> str:
        """Title with its unit."""
        return f"{self.title} [{self.unit}]" if self.unit not in {"", "1"} else self.title


@dataclass(frozen=True)
class ActuatorUse:
    """How one channel's command used its limits in one situation.

    Attributes
    ----------
    lowest, highest : float
        Extremes of the command, in its unit.
    saturated : float
        Share of the time at a limit, in 0..1.
    peak : float
        Largest magnitude of the command over all seeds; NaN: not known.
    """

    lowest: float = NAN
    highest: float = NAN
    saturated: float = NAN
    peak: float = NAN


@dataclass(frozen=True, eq=False)
class Response:
    """The recorded closed loop of one controller in one situation, at n + 1 times, with n_c channels.

    Attributes
    ----------
    time : array [n + 1]
        Seconds, increasing.
    reference, output, command : array [n + 1, n_c]
        In the units of the channel. Non-finite samples (after a divergence) are left out of the charts.
    gains : array [n + 1, n_gains] or None
        Gains in force, columns named by `gain_names`.
    gain_names : tuple of str
        For example ("kp", "ki", "kd"); with several channels ("kp front", ...).
    entropy_rate_plant, entropy_rate_controller : array [n + 1] or None
        T0 dS/dt in W.
    entropy_plant, entropy_controller : array [n + 1] or None
        Their integrals from 0 in J; None: left sums of the rates are drawn.
    error, error_rate : array [n + 1, n_c] or None
        What the knowledge base saw: drawn as the visited part of the gain surfaces.
    """

    time: Array
    reference: Array
    output: Array
    command: Array
    gains: Array | None = None
    gain_names: tuple[str, ...] = ()
    entropy_rate_plant: Array | None = None
    entropy_rate_controller: Array | None = None
    entropy_plant: Array | None = None
    entropy_controller: Array | None = None
    error: Array | None = None
    error_rate: Array | None = None

    def __post_init__(self) -> None:
        """Check all lengths against the time axis."""
        n = len(self.time)
        for name, columns in self._expected().items():
            value = getattr(self, name)
            if value is None:
                continue
            expected = (n,) if columns is None else (n, columns)
            if np.shape(value) != expected:
                raise ValueError(f"Response.{name} must have shape {expected}, got {np.shape(value)}")

    def _expected(self) -> dict[str, int | None]:
        n_c = self.output.shape[-1] if np.ndim(self.output) else 0
        channel = dict.fromkeys(("reference", "output", "command", "error", "error_rate"), n_c)
        scalar = dict.fromkeys(("entropy_rate_plant", "entropy_rate_controller", "entropy_plant", "entropy_controller"))
        return {"time": None, **channel, **scalar, "gains": len(self.gain_names)}


NO_RESPONSE = NotAvailable("no response was recorded")


@dataclass(frozen=True)
class SituationResult:
    """One controller in one situation.

    Attributes
    ----------
    situation : str
        Name of a `SituationInfo`.
    cost : Estimate
        The cost J of this situation alone (mean over its seeds).
    measures : mapping of name to float
        Means over the seeds that survive, names and units as in `sscq.evaluate`: `MEASURES` and the plant's own.
    actuator : tuple of ActuatorUse
        One per channel; empty: taken from the response where there is one.
    response : Response or NotAvailable
        What is drawn.
    diverged_at : float
        Time [s] of the first divergence, NaN: none.
    failures : int
        Number of diverged seeds.
    change : Estimate or None
        Relative change of the cost against the controller that changes are counted against, with its interval from
        paired seeds; None: the page takes the plain ratio of the costs.
    """

    situation: str
    cost: Estimate = Estimate(NAN)
    measures: Mapping[str, float] = field(default_factory=dict)
    actuator: tuple[ActuatorUse, ...] = ()
    response: Response | NotAvailable = field(default=NO_RESPONSE, metadata=FROM_FILE)
    diverged_at: float = NAN
    failures: int = 0
    change: Estimate | None = None

    def measure(self, name: str) -> float:
        """One of the measures, NaN where there is none."""
        return self.measures.get(name, NAN)

    @property
    def failed(self) -> bool:
        """Whether the loop diverged in any seed."""
        return self.failures > 0 or bool(np.isfinite(self.diverged_at))
