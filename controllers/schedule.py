"""Gain schedules: constant, over time, over one variable.

A schedule maps time and scheduling signals to the gains of all channels by its parameters `theta`; see
:class:`controllers.protocols.Schedule`. The fuzzy schedule of a knowledge base is one more of this kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers import settings
from controllers.probes import Probes
from plants.core.elementary import abs as magnitude
from plants.core.elementary import table1d, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers.probes import Near
    from controllers.protocols import Law, Number, Numbers

_PID_GAINS = ("kp", "ki", "kd")
_BETWEEN = 4  # parts of an interval between two nodes at whose ends a table is looked at
_ROUNDING = 1e-9  # relative; a knot at k h must be reached by the sample at k * h however that was rounded


def gain_names(laws: Law | Sequence[Law]) -> tuple[str, ...]:
    """Return the gain names of all channels in order: a law's own for one channel, else with _1, _2, ... behind."""
    several = tuple(laws) if isinstance(laws, (tuple, list)) else (laws,)
    if len(several) == 1:
        return several[0].gain_names
    return tuple(f"{name}_{channel}" for channel, law in enumerate(several, 1) for name in law.gain_names)


@dataclass(frozen=True)
class MemorylessSchedule(ABC):
    """A schedule without states of its own."""

    @property
    def n_states(self) -> int:
        """None of its own."""
        return 0

    def initial(self) -> tuple[float, ...]:
        """Return the empty state."""
        return ()

    @property
    @abstractmethod
    def theta_names(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @property
    def signals(self) -> tuple[str, ...]:
        """No extra plant outputs."""
        return ()

    @property
    def settled(self) -> MemorylessSchedule:
        """Itself: its gains do not lag."""
        return self

    def at_rest(self, theta: NDArray[np.float64], outputs: Sequence[NDArray[np.float64]]) -> Probes:
        """Return its signals without control errors; `outputs` [1, n_points] are those named in ``signals``."""
        return Probes([np.zeros((1, 1))] * (2 * getattr(self, "highest_channel", 1)) + list(outputs))

    def probes(self, theta: NDArray[np.float64], near: Near, count: int, seed: int = 0) -> Probes | None:
        """Return where all gains that it may give near a point are seen; None: they do not depend on signals."""
        return None

    @abstractmethod
    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains and the (empty) state."""


@dataclass(frozen=True)
class ConstantGains(MemorylessSchedule):
    """Gains that do not change: theta is the gain vector.

    Attributes
    ----------
    gain_names : tuple of str
        Of all channels; :func:`gain_names` gives them for laws.
    routed : tuple of (gain name, plant output)
        Entries that are not parameters but follow a plant output, such as ("applied", "valve_position").

    Examples
    --------
    >>> ConstantGains().gains(0.0, (0.1, 0.0), (), (3.62, 0.59, 3.17))
    ((3.62, 0.59, 3.17), ())
    """

    gain_names: tuple[str, ...] = _PID_GAINS
    routed: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check the names."""
        object.__setattr__(self, "gain_names", settings.distinct("gain_names", self.gain_names))
        object.__setattr__(self, "routed", tuple((str(gain), str(output)) for gain, output in self.routed))
        for gain, _ in self.routed:
            settings.one_of("gain to route an output to", gain, self.gain_names)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Gain names without the routed ones."""
        return tuple(name for name in self.gain_names if name not in dict(self.routed))

    @property
    def tick(self) -> None:
        """Every sample: it costs nothing."""
        return

    @property
    def signals(self) -> tuple[str, ...]:
        """Outputs that are routed, each once."""
        return tuple(dict.fromkeys(output for _, output in self.routed))

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return theta, with the routed entries in their places."""
        given = dict(zip(self.theta_names, theta, strict=True))
        first = len(s) - len(self.signals)
        for gain, output in self.routed:
            given[gain] = s[first + self.signals.index(output)]
        return tuple(given[name] for name in self.gain_names), k


@dataclass(frozen=True)
class TimeGains(MemorylessSchedule):
    """Gains at knots in time, held or interpolated between them.

    theta holds the gains at the first knot, then at the second, ...: named "kp@0", "ki@0", "kd@0", "kp@5", ...

    Attributes
    ----------
    times : tuple of float
        Knots [s], strictly increasing. Before the first its gains hold, after the last the last's.
    kind : {"piecewise", "linear"}
        Constant from each knot on (from the first sample at or after it), or linear between knots.
    gain_names : tuple of str
        Of all channels; :func:`gain_names` gives them for laws.
    tick : float, optional
        Time between two updates [s].
    """

    times: tuple[float, ...]
    kind: str = "piecewise"
    gain_names: tuple[str, ...] = _PID_GAINS
    tick: float | None = None

    def __post_init__(self) -> None:
        """Check knots and names."""
        object.__setattr__(self, "times", settings.increasing("times", self.times))
        object.__setattr__(self, "gain_names", settings.distinct("gain_names", self.gain_names))
        object.__setattr__(self, "tick", settings.optional_positive("tick", self.tick))
        settings.one_of("kind of time schedule", self.kind, ("piecewise", "linear"))

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Gain names at each knot."""
        return _at_nodes(self.gain_names, self.times)

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains at time `t`."""
        rows = _rows(theta, len(self.times), len(self.gain_names))
        if self.kind == "linear":
            return _interpolated(t, self.times, rows), k
        values = rows[0]
        for time, row in zip(self.times[1:], rows[1:], strict=True):
            reached = t - (time - _ROUNDING * max(1.0, abs(time)))
            values = tuple(where(reached, new, old) for new, old in zip(row, values, strict=True))
        return values, k


@dataclass(frozen=True)
class GainTable(MemorylessSchedule):
    """Gains over one scheduling variable: linear between nodes, constant outside.

    theta holds the gains at the first node, then at the second, ...; with ``search_scale`` one entry more, "scale".

    Attributes
    ----------
    signal : str
        "error" or "error_rate" (of channel 1; "error_2" of channel 2, ...), or the name of a plant output.
    nodes : tuple of float
        Of the transformed signal, strictly increasing.
    transform : {"identity", "magnitude", "square"}
        Applied to the signal first.
    search_scale : bool
        The last entry of theta multiplies the nodes [unit of the transformed signal]; bound it away from 0.
    gain_names : tuple of str
        Of all channels; :func:`gain_names` gives them for laws.
    tick : float, optional
        Time between two updates [s].

    Examples
    --------
    Seven parameters, gains that follow the square of the output between two sets:

    >>> GainTable("position", (0.0, 1.0), transform="square", search_scale=True).theta_names
    ('kp@0', 'ki@0', 'kd@0', 'kp@1', 'ki@1', 'kd@1', 'scale')
    """

    signal: str
    nodes: tuple[float, ...]
    transform: str = "identity"
    search_scale: bool = False
    gain_names: tuple[str, ...] = _PID_GAINS
    tick: float | None = None

    def __post_init__(self) -> None:
        """Check nodes and names."""
        object.__setattr__(self, "nodes", settings.increasing("nodes", self.nodes))
        object.__setattr__(self, "gain_names", settings.distinct("gain_names", self.gain_names))
        object.__setattr__(self, "tick", settings.optional_positive("tick", self.tick))
        settings.one_of("transform of the scheduling signal", self.transform, ("identity", "magnitude", "square"))

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Gain names at each node, and "scale" if it is searched."""
        return _at_nodes(self.gain_names, self.nodes) + (("scale",) if self.search_scale else ())

    @property
    def signals(self) -> tuple[str, ...]:
        """The plant output, unless the signal is a control error."""
        return (self.signal,) if self._error_index() is None else ()

    @property
    def highest_channel(self) -> int:
        """The channel whose error is read; 1 for a plant output."""
        index = self._error_index()
        return 1 if index is None else index // 2 + 1

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains at the present value of the signal."""
        index = self._error_index()
        value = s[-1] if index is None else s[index]
        if self.transform == "magnitude":
            value = magnitude(value)
        elif self.transform == "square":
            value = value * value
        if self.search_scale:
            value = value / theta[len(theta) - 1]
        return _interpolated(value, self.nodes, _rows(theta, len(self.nodes), len(self.gain_names))), k

    def probes(self, theta: NDArray[np.float64], near: Near, count: int, seed: int = 0) -> Probes:
        """Return signals at the nodes and at quarters of the way between every two, where they are near.

        Parameters
        ----------
        theta : array [n, n_theta]
        near : mapping of plant output to (low, high)
        count, seed : int
            Not used: the gains move along lines.
        """
        intervals = len(self.nodes) - 1
        numbers = np.linspace(0.0, intervals, _BETWEEN * intervals + 1)
        nodes = np.interp(numbers, range(intervals + 1), self.nodes)
        values = nodes * (theta[:, -1:] if self.search_scale else 1.0)
        values = np.sqrt(np.maximum(values, 0.0)) if self.transform == "square" else values
        values = np.atleast_2d(values)
        index = self._error_index()
        if index is None:
            both = values if self.transform == "identity" else np.hstack([values, -values])
            values = np.clip(both, *near.get(self.signal, (-np.inf, np.inf)))
        zero = np.zeros((1, 1))
        signals = [zero] * (2 * self.highest_channel)
        if index is None:
            return Probes([*signals, values])
        return Probes([*signals[:index], values, *signals[index + 1 :]])

    def _error_index(self) -> int | None:
        """Position in `s` of a control error or its rate; None for a plant output."""
        base, _, channel = self.signal.rpartition("_")
        name, number = (base, int(channel)) if channel.isdigit() else (self.signal, 1)
        if name not in {"error", "error_rate"} or number < 1:
            return None
        return 2 * (number - 1) + (name == "error_rate")


def _at_nodes(names: Sequence[str], nodes: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{name}@{node:.12g}" for node in nodes for name in names)


def _rows(theta: Numbers, n_nodes: int, n_gains: int) -> list[Numbers]:
    return [tuple(theta[node * n_gains : (node + 1) * n_gains]) for node in range(n_nodes)]


def _interpolated(value: Number, nodes: Sequence[float], rows: list[Numbers]) -> Numbers:
    return tuple(table1d(value, nodes, column) for column in zip(*rows, strict=True))
