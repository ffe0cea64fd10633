"""Manual and automatic operation of one channel, switched without a bump in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from controllers import windup
from controllers.parallel_law import ParallelLaw
from plants.core.elementary import where

if TYPE_CHECKING:
    from controllers.protocols import Number, Numbers


@dataclass(frozen=True)
class ManualStation:
    """A PID law with an operator's station in front of the plant.

    The station reads two more entries of `g` behind the law's gains: "manual" (above 0: manual) and "track", the
    command that the operator or another system asks for. A schedule gives them, a timetable by ``TimeGains``.

    Automatic to manual: the command moves from its last value to "track" with `ramp`. Manual to automatic: while in
    manual, the law's integral is what its other terms leave of the command, so that the law goes on from there. A
    channel without a station pays nothing.

    Attributes
    ----------
    automatic : PID or TwoDegreePID
    ramp : float
        Rate of the command in manual [unit/s], in place of the law's rate limit; 0 holds the last automatic command,
        inf goes to "track" at once.
    limits, sample_time : optional
        Of station and law, as for :class:`controllers.PID`; None: the law's own, or what the closed loop binds.

    Raises
    ------
    TypeError, ValueError
        If `automatic` is not a PID law, or `ramp` is negative.
    """

    automatic: ParallelLaw
    ramp: float
    limits: tuple[float, float] | None = None
    sample_time: float | None = None

    def __post_init__(self) -> None:
        """Check the settings and give law and station the same limits and sample time."""
        given: object = self.automatic
        if not isinstance(given, ParallelLaw):
            message = f"a manual station needs a PID or TwoDegreePID, got {type(given).__name__}"
            raise TypeError(message)
        if math.isnan(self.ramp) or self.ramp < 0.0:
            message = f"ramp must be 0 (hold), positive [unit/s] or inf (at once), got {self.ramp}"
            raise ValueError(message)
        own = {name: getattr(self, name) for name in ("limits", "sample_time") if getattr(self, name) is not None}
        object.__setattr__(self, "automatic", replace(self.automatic, **own))
        object.__setattr__(self, "limits", self.automatic.limits)
        object.__setattr__(self, "sample_time", self.automatic.sample_time)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The law's gains, then "manual" and "track"."""
        return (*self.automatic.gain_names, "manual", "track")

    @property
    def n_states(self) -> int:
        """The law's states and the last command."""
        return self.automatic.n_states + 1

    @property
    def rate_source(self) -> str:
        """The law's."""
        return self.automatic.rate_source

    def initial(self) -> tuple[float, ...]:
        """Return the law's initial state and its initial command, inside the limits."""
        return (*self.automatic.initial(), self.automatic.at_rest())

    def error_rate(self, r_rate: Number, y_rate: Number, c: Numbers) -> Number:
        """Return the law's filtered error rate."""
        return self.automatic.error_rate(r_rate, y_rate, c[:-1])

    def law(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """One sample; arguments as for :meth:`controllers.PID.law`."""
        *gains, manual, track = g
        signals = (r, y, r_rate, y_rate, tuple(c[:-1]), tuple(gains))
        automatic_command, automatic_state = self.automatic.law(t, *signals)
        manual_command = self._moved(c[-1], track)
        manual_state = self.automatic.follow(*signals, manual_command)
        command = where(manual, manual_command, automatic_command)
        states = (where(manual, m, a) for m, a in zip(manual_state, automatic_state, strict=True))
        return command, (*states, command)

    def continuous(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Refuse: a station switches between samples.

        Raises
        ------
        ValueError
            Always; close the loop with the law itself (``station.automatic``).
        """
        message = "a manual station switches between samples; close the continuous loop with its law, station.automatic"
        raise ValueError(message)

    def _moved(self, last: Number, track: Number) -> Number:
        """Last command, moved towards `track` by at most one sample's ramp, inside the limits."""
        if self.sample_time is None:
            message = "sample_time is not set: use dataclasses.replace(station, sample_time=0.01) [s]"
            raise ValueError(message)
        travel = None if math.isinf(self.ramp) else self.ramp * self.sample_time
        return windup.limited(track, *windup.window(self.limits, travel, last))
