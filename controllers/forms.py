"""Three ways to write the same PID controller, and the conversions between them.

parallel                  kp + ki / s + kd s
standard (ISA)            K (1 + 1 / (Ti s) + Td s / (1 + Td s / N))
series (interacting)      K' (1 + 1 / (Ti' s)) (1 + Td' s)

Source: K. J. Astrom and T. Hagglund, Advanced PID Control (ISA, 2006), chapter 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from controllers import settings

_ROUNDING = 1e-12  # relative; a double zero (Ti = 4 Td) must survive its own rounding


@dataclass(frozen=True)
class Gains:
    """Parallel form, the one that the laws use.

    Attributes
    ----------
    kp : float
        Proportional gain [u/y].
    ki : float
        Integral gain [u/(y s)].
    kd : float
        Derivative gain [u s/y].
    b : float
        Set-point weight of the proportional term.
    """

    kp: float
    ki: float
    kd: float
    b: float = 1.0

    def __post_init__(self) -> None:
        """Coerce to finite floats."""
        _coerce(self, ("kp", "ki", "kd", "b"))

    @property
    def vector(self) -> tuple[float, float, float]:
        """(kp, ki, kd): the gain vector of a PID."""
        return self.kp, self.ki, self.kd

    def to_standard(self, derivative_filter_time: float = 0.0) -> StandardForm:
        """Return the standard form; Ti is infinite without integral action, N without filter.

        Raises
        ------
        ValueError
            If kp is 0 or its sign differs from ki's or kd's: the standard form has no such controller.
        """
        if self.kp == 0.0 or self.kp * self.ki < 0.0 or self.kp * self.kd < 0.0:
            message = (
                "the standard form K (1 + 1/(Ti s) + Td s) needs kp other than 0 and ki, kd of its sign, "
                f"got kp={self.kp}, ki={self.ki}, kd={self.kd}; keep the parallel form"
            )
            raise ValueError(message)
        derivative_time = abs(self.kd / self.kp)
        integral_time = math.inf if self.ki == 0.0 else self.kp / self.ki
        ratio = filter_ratio(derivative_time, derivative_filter_time)
        return StandardForm(self.kp, integral_time, derivative_time, ratio, self.b)

    def to_series(self) -> SeriesForm:
        """Return the series form; raises ValueError where there is none (see :meth:`StandardForm.to_series`)."""
        return self.to_standard().to_series()


@dataclass(frozen=True)
class StandardForm:
    """Standard (ISA, non-interacting) form.

    Attributes
    ----------
    gain : float
        K [u/y].
    integral_time, derivative_time : float
        Ti > 0 (inf: no integral action) and Td >= 0 [s].
    filter_ratio : float
        N > 0; inf: no derivative filter.
    b : float
        Set-point weight of the proportional term.
    """

    gain: float
    integral_time: float
    derivative_time: float
    filter_ratio: float = math.inf
    b: float = 1.0

    def __post_init__(self) -> None:
        """Check and coerce."""
        _coerce(self, ("gain", "b"))
        _check_times(self)
        _check_ratio(self.filter_ratio)

    @property
    def derivative_filter_time(self) -> float:
        """Td / N [s]: the law's setting of the same name."""
        return filter_time(self.derivative_time, self.filter_ratio)

    def to_parallel(self) -> Gains:
        """Return the gains (the filter is a setting of the law: ``derivative_filter_time``)."""
        return Gains(self.gain, self.gain / self.integral_time, self.gain * self.derivative_time, self.b)

    def to_series(self) -> SeriesForm:
        """Return the series form with the same zeros.

        Raises
        ------
        ValueError
            If Ti < 4 Td (complex zeros) or b is not 1: the series form has neither.
        """
        if self.b != 1.0:
            message = f"the series form has no set-point weight, got b={self.b}; use b=1 or keep the standard form"
            raise ValueError(message)
        discriminant = 1.0 - 4.0 * self.derivative_time / self.integral_time
        if discriminant < -_ROUNDING:
            message = (
                "a series form exists for Ti >= 4 Td only (real zeros), "
                f"got Ti={self.integral_time}, Td={self.derivative_time}; keep the standard or parallel form"
            )
            raise ValueError(message)
        share = 0.5 * (1.0 + math.sqrt(max(discriminant, 0.0)))
        return SeriesForm(self.gain * share, self.integral_time * share, self.derivative_time / share)


@dataclass(frozen=True)
class SeriesForm:
    """Series (interacting) form.

    Attributes
    ----------
    gain : float
        K' [u/y].
    integral_time, derivative_time : float
        Ti' > 0 (inf: no integral action) and Td' >= 0 [s].
    """

    gain: float
    integral_time: float
    derivative_time: float

    def __post_init__(self) -> None:
        """Check and coerce."""
        _coerce(self, ("gain",))
        _check_times(self)

    def to_standard(self, filter_ratio: float = math.inf, b: float = 1.0) -> StandardForm:
        """Return the standard form; `filter_ratio` and `b` are taken as they are.

        With Ti' < Td' it is the form with the two times exchanged that :meth:`StandardForm.to_series` gives back.
        """
        factor = 1.0 + self.derivative_time / self.integral_time
        return StandardForm(
            self.gain * factor, self.integral_time * factor, self.derivative_time / factor, filter_ratio, b
        )

    def to_parallel(self, b: float = 1.0) -> Gains:
        """Return the gains."""
        return self.to_standard(b=b).to_parallel()


def filter_time(derivative_time: float, ratio: float) -> float:
    """Return tau_f = Td / N [s]; 0 (no filter) for an infinite ratio."""
    return derivative_time / _check_ratio(ratio)


def filter_ratio(derivative_time: float, derivative_filter_time: float) -> float:
    """Return N = Td / tau_f; inf for no filter or no derivative action."""
    if derivative_filter_time < 0.0:
        message = f"derivative_filter_time must be 0 (no filter) or positive, got {derivative_filter_time}"
        raise ValueError(message)
    if derivative_filter_time == 0.0 or derivative_time == 0.0:
        return math.inf
    return derivative_time / derivative_filter_time


def _coerce(form: Gains | StandardForm | SeriesForm, names: tuple[str, ...]) -> None:
    for name in names:
        object.__setattr__(form, name, settings.finite(name, getattr(form, name)))


def _check_times(form: StandardForm | SeriesForm) -> None:
    if not form.integral_time > 0.0:
        message = f"integral_time must be positive [s] (inf: no integral action), got {form.integral_time}"
        raise ValueError(message)
    if not 0.0 <= form.derivative_time < math.inf:
        message = f"derivative_time must be 0 or positive and finite [s], got {form.derivative_time}"
        raise ValueError(message)


def _check_ratio(ratio: float) -> float:
    if not ratio > 0.0:
        message = f"filter_ratio N must be positive (inf: no filter), got {ratio}"
        raise ValueError(message)
    return ratio
