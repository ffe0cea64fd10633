"""What is integrated over a closed loop, once for loops in continuous time and for sampled ones.

A loop closed in continuous time has the integrals as states. A sampled loop adds an integrand times the step, at its
start. With several channels, errors are divided by the channels' scales, and channels are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plants.core.quantities import Channel


@dataclass(frozen=True)
class Moment:
    """What an integrand may look at, at one time; tuples have one entry per channel.

    Attributes
    ----------
    t : time [s]
    since : time from the latest jump of reference or load up to now [s]
    scaled_error : errors r - y over the channels' scales
    command : commands in force
    entropy_plant, entropy_controller : T0 dS/dt [W]; the plant's less its loss at rest, where that is asked for
    """

    t: Any
    since: Any
    scaled_error: tuple[Any, ...]
    command: tuple[Any, ...]
    entropy_plant: Any
    entropy_controller: Any


@dataclass(frozen=True)
class Integrand:
    """A value at one time, and whether the time since the latest jump multiplies it."""

    value: Callable[[Moment], Any]
    timed: bool = False

    def rate(self, moment: Moment) -> Any:
        """Return what the integral grows by [per s]."""
        return moment.since * self.value(moment) if self.timed else self.value(moment)

    def over(self, h: Any, moment: Moment) -> Any:
        """Return what a step of length `h` [s] from this time adds to a left sum."""
        return (h * moment.since if self.timed else h) * self.value(moment)


def _sum(values: Iterable[Any]) -> Any:
    first, *others = values
    for value in others:
        first = first + value
    return first


def _absolute_error(m: Moment) -> Any:
    return _sum(magnitude(e) for e in m.scaled_error)


INTEGRANDS: dict[str, Integrand] = {
    "ise": Integrand(lambda m: _sum(e * e for e in m.scaled_error)),
    "iae": Integrand(_absolute_error),
    "itae": Integrand(_absolute_error, timed=True),
    "effort": Integrand(lambda m: _sum(u * u for u in m.command)),
    "entropy_plant": Integrand(lambda m: m.entropy_plant),
    "entropy_controller": Integrand(lambda m: m.entropy_controller),
    "entropy_difference": Integrand(lambda m: m.entropy_plant - m.entropy_controller),
    "entropy_difference_abs": Integrand(lambda m: magnitude(m.entropy_plant - m.entropy_controller)),
    "entropy_difference_square": Integrand(lambda m: (m.entropy_plant - m.entropy_controller) ** 2),
}
"""By the name of the measure that integrates it."""


def controller_entropy_rate(parts: Iterable[tuple[Channel, Any, Any]]) -> Any:
    """Return T0 dS/dt of the derivative actions [W], for collocated loops.

    Parameters
    ----------
    parts : iterable of (Channel, kd, rate)
        The derivative gain and the true error rate of each channel that has one. Where the channel is opposed the
        gain's magnitude counts.
    """
    total: Any = 0.0
    for channel, kd, rate in parts:
        total = total + (magnitude(kd) if channel.opposed else kd) * rate * rate
    return total
