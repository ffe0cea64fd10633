"""The PID laws of one channel: with one or two degrees of freedom, and with the error's own integral as state.

Source of the laws: K. J. Astrom and T. Hagglund, Advanced PID Control (ISA, 2006), chapter 3 (set-point weighting,
windup, bumpless parameter changes, discretisation). One sample of :class:`PID` reproduces, bit for bit, the loop

    v = kp * e + w + kd * e_rate;  u = clip(v, low, high);  if low < v < high or v * e < 0: w += h * ki * e

of the project's Van der Pol study.

:class:`ErrorIntegralPID` is the law of many certified blocks, u = kp (b r - y) + ki int e + kd e'. With constant
gains it is the same controller as :class:`PID`; with scheduled ones a change of ki acts on all that was gathered
before, so that the command jumps by (change of ki) * int e (ibid., sec. 3.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from controllers import settings
from controllers.parallel_law import ParallelLaw
from plants.core.elementary import abs as magnitude
from plants.core.elementary import where

if TYPE_CHECKING:
    from controllers.protocols import Number, Numbers


@dataclass(frozen=True)
class FixedWeightLaw(ParallelLaw):
    """A law whose set-point weight is a setting; :class:`PID` documents it."""

    set_point_weight: float = 1.0

    def __post_init__(self) -> None:
        """Check and coerce the settings."""
        super().__post_init__()
        object.__setattr__(self, "set_point_weight", settings.finite("set_point_weight", self.set_point_weight))

    def _weighted(self, r: Number, g: Numbers) -> Number:
        return r if self.set_point_weight == 1.0 else self.set_point_weight * r


@dataclass(frozen=True)
class PID(FixedWeightLaw):
    """PID law of one channel: u = kp (b r - y) + integral of ki e + kd e'.

    Every setting that is left out costs no state and no operation.

    Attributes
    ----------
    limits : (low, high), optional
        Of the command [unit of the command]; an end may be infinite. None: no limits.
    rate_limit : float, optional
        Of the command [unit/s].
    derivative_filter_time : float
        tau_f [s] of the first-order filter on both rates, ``d <- d + (h / tau_f) (rate - d)``, with its pole at
        1 - h / tau_f. For tau_f < h the pole is negative and the filter would overshoot in every sample (below h / 2
        it would be unstable): refused. tau_f = h passes the rates unchanged, and so does 0, without the two states.
        The filter starts at rest (rates 0).
    sample_time : float, optional
        h [s]. None: the integration step; a closed loop binds it.
    action : {"direct", "reverse"}
        Sense of the plant: "direct" where more command raises the measurement (the law acts on r - y), "reverse" where
        it lowers it (y - r). Gains are positive in both. (ISA names the controller, not the plant, and calls the first
        a reverse-acting controller.)
    derivative_on : {"error", "measurement"}
        On the measurement, a step of the reference makes no kick.
    set_point_weight : float
        b of the proportional term; below 1 it softens the answer to reference steps. With b other than 1 a scheduled kp
        moves the command by (b - 1) r times its change even at e = 0: schedule kp with b = 1, or slowly.
    anti_windup : {"conditional", "back_calculation", "none"}
        What the integral does while the command is at a limit or the rate limit: stand still unless its step leads back
        inside; be led back by (u - v) / tracking_time; go on.
    tracking_time : float, optional
        Time constant of the back calculation [s], at least one sample.
    external_reset : bool
        Back calculation from the command that reached the plant, given as one more gain named "applied" (a schedule
        routes a plant output there: ``ConstantGains(routed=...)``), instead of from the law's own command.
    rate_source : {"output", "difference"}
        Read by the closed loop: the channel's rate output where the plant has one, or the backward difference.
    initial_command : float
        Command at rest before t = 0, inside the limits: initial value of the integral and of the last command. At the
        default of 0, where the limits exclude it, the last command is the limit next to it.
    hold_invalid : bool
        Hold the last command and all states while a signal, or the demand made of it, is NaN or infinite.
    frozen_after : float, optional
        Hold them, too, once the measurement has not changed by a bit for this time [s]. For measurements with noise: an
        exact one at rest is frozen by this definition.

    Raises
    ------
    ValueError
        Where a setting is not of its kind, or two contradict each other.

    Examples
    --------
    >>> pid = PID(limits=(-20.0, 20.0), sample_time=0.005)
    >>> pid.law(0.0, 1.5, 0.1, 0.0, 0.0, pid.initial(), (3.62, 0.59, 3.17))[0]
    5.068
    """


@dataclass(frozen=True)
class TwoDegreePID(ParallelLaw):
    """PID law whose set-point weight b is a fourth gain, so that a search finds it and a schedule may move it.

    Settings as for :class:`PID`, without ``set_point_weight``.
    """

    _own_gains: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd", "b")

    def _weighted(self, r: Number, g: Numbers) -> Number:
        return g[3] * r


_NO_INTEGRAL_ACTION = 1e-12  # magnitude of ki below which the block's integral stands still


@dataclass(frozen=True)
class ErrorIntegralPID(FixedWeightLaw):
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

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.initial_command != 0.0:
            message = (
                "a block that stores the integral of the error starts from an integral of 0, got initial_command "
                f"{self.initial_command}; leave it out, or use PID"
            )
            raise ValueError(message)

    def _acting(self, integral: Number, g: Numbers) -> Number:
        return g[1] * integral

    def _stored(self, part: Number, g: Numbers) -> Number:
        size = magnitude(g[1]) - _NO_INTEGRAL_ACTION
        return where(size, part / where(size, g[1], 1.0), 0.0)
