"""The PID law of blocks that store the integral of the error itself: u = kp (b r - y) + ki int e + kd e'.

Many certified blocks do. With constant gains it is the same controller as :class:`controllers.PID`; with scheduled ones
a change of ki acts on all that was gathered before, so that the command jumps by (change of ki) * int e.
Source: K. J. Astrom and T. Hagglund, Advanced PID Control (ISA, 2006), sec. 3.6 (bumpless parameter changes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controllers import settings
from controllers.parallel_law import ParallelLaw
from plants.core.elementary import abs as magnitude
from plants.core.elementary import where

if TYPE_CHECKING:
    from controllers.protocols import Number, Numbers

_NO_INTEGRAL_ACTION = 1e-12  # magnitude of ki below which the block's integral stands still


@dataclass(frozen=True)
class ErrorIntegralPID(ParallelLaw):
    """PID law that stores the integral of the error [y s], and multiplies it with the present ki.

    Its limits, rate limit, filter and anti-windup are those of :class:`controllers.PID`, whose settings it has; where
    ki is 0 the integral stands still, as in blocks whose integral action is switched off.

    Raises
    ------
    ValueError
        As for :class:`controllers.PID`; and for an initial command, which an integral of the error cannot hold for
        every ki.

    Examples
    --------
    >>> block = ErrorIntegralPID(sample_time=0.1)
    >>> block.law(0.0, 1.0, 0.0, 0.0, 0.0, (2.0,), (0.0, 3.0, 0.0))  # an integral of 2 and ki = 3
    (6.0, (2.1,))
    """

    set_point_weight: float = 1.0

    def __post_init__(self) -> None:
        """Check and coerce the settings."""
        super().__post_init__()
        object.__setattr__(self, "set_point_weight", settings.finite("set_point_weight", self.set_point_weight))
        if self.initial_command != 0.0:
            message = (
                "a block that stores the integral of the error starts from an integral of 0, got initial_command "
                f"{self.initial_command}; leave it out, or use PID"
            )
            raise ValueError(message)

    def _weighted(self, r: Number, g: Numbers) -> Number:
        return r if self.set_point_weight == 1.0 else self.set_point_weight * r

    def _acting(self, integral: Number, g: Numbers) -> Number:
        return g[1] * integral

    def _stored(self, part: Number, g: Numbers) -> Number:
        size = magnitude(g[1]) - _NO_INTEGRAL_ACTION
        return where(size, part / where(size, g[1], 1.0), 0.0)
