"""Classical tuning rules: PID gains from a process model of two or three numbers.

Models: first order plus dead time, ``gain * exp(-dead_time s) / (1 + time_constant s)``, and integrating plus dead
time, ``gain * exp(-dead_time s) / s``: the latter where ``time_constant`` is infinite, with `gain` then the slope of
the output per unit of the command [y/(u s)].

A negative gain gives negative gains. With ``PID(action="reverse")`` give the gain's magnitude.

Sources
-------
Ziegler and Nichols, Optimum settings for automatic controllers, Trans. ASME 64 (1942), 759-768.
Skogestad, Simple analytic rules for model reduction and PID controller tuning, J. Process Control 13 (2003), 291-309.
Astrom and Hagglund, Revisiting the Ziegler-Nichols step response method for PID control, J. Process Control 14 (2004),
635-650; the same rules in Advanced PID Control (ISA, 2006), chapter 7.

Chien-Hrones-Reswick, Cohen-Coon and lambda tuning: :mod:`controllers.reaction_curve`.
"""

from __future__ import annotations

import math

from controllers import settings
from controllers.forms import Gains, SeriesForm, StandardForm
from controllers.reaction_curve import (
    KINDS,
    check_model,
    chien_hrones_reswick,
    cohen_coon,
    lambda_tuning,
    need_dead_time,
    nonzero,
)

__all__ = [
    "Gains", "amigo", "chien_hrones_reswick", "cohen_coon", "lambda_tuning", "simc", "ziegler_nichols",
    "ziegler_nichols_ultimate",
]  # fmt: skip


def simc(
    gain: float,
    time_constant: float,
    dead_time: float,
    *,
    closed_loop_time: float | None = None,
    second_time_constant: float = 0.0,
) -> Gains:
    """Skogestad's rule (SIMC): PI for a first-order model, PID with ``second_time_constant``.

    In series form: K = tau_1 / (gain (tau_c + theta)), Ti = min(tau_1, 4 (tau_c + theta)), Td = tau_2. For an
    integrating process K = 1 / (gain (tau_c + theta)), Ti = 4 (tau_c + theta). For a double integrator,
    ``gain * exp(-theta s) / s^2`` (both time constants infinite), K = 1 / (4 gain (tau_c + theta)^2),
    Ti = Td = 4 (tau_c + theta).

    Parameters
    ----------
    gain : float
        Static gain [y/u], or slope [y/(u s)], or second-order slope [y/(u s^2)].
    time_constant : float
        tau_1 [s]; inf: integrating.
    dead_time : float
        theta [s], 0 allowed if ``closed_loop_time`` is given.
    closed_loop_time : float, optional
        tau_c [s], wanted time constant of the closed loop; default `dead_time` (fast with good robustness).
    second_time_constant : float
        tau_2 [s], at most `time_constant`.

    Returns
    -------
    Gains
        Parallel form; derivative on the measurement is meant.

    Raises
    ------
    ValueError
        If the model is not one of these or tau_c + theta is not positive.

    Notes
    -----
    Source: Skogestad (2003), eqs. (23)-(26) and table 1.
    """
    check_model(gain, time_constant, dead_time)
    lead = dead_time if closed_loop_time is None else settings.finite("closed_loop_time", closed_loop_time)
    speed = lead + dead_time
    if speed <= 0.0:
        message = (
            f"closed_loop_time + dead_time must be positive, got {lead} + {dead_time}; "
            "without dead time give closed_loop_time, the wanted time constant of the closed loop [s]"
        )
        raise ValueError(message)
    if not 0.0 <= second_time_constant <= time_constant:
        message = (
            f"second_time_constant must be between 0 and time_constant {time_constant}, got {second_time_constant}; "
            "exchange the two"
        )
        raise ValueError(message)
    slow = 4.0 * speed
    if math.isinf(second_time_constant):
        return SeriesForm(1.0 / (gain * slow * speed), slow, slow).to_parallel()
    if math.isinf(time_constant):
        return SeriesForm(1.0 / (gain * speed), slow, second_time_constant).to_parallel()
    series = SeriesForm(time_constant / (gain * speed), min(time_constant, slow), second_time_constant)
    return series.to_parallel()


def amigo(gain: float, time_constant: float, dead_time: float, *, kind: str = "pid") -> Gains:
    """Astrom and Hagglund's rule (AMIGO): load disturbances at maximum sensitivities of about 1.4.

    PID, with T the time constant, L the dead time and Kp the gain::

        K = (0.2 + 0.45 T / L) / Kp,  Ti = L (0.4 L + 0.8 T) / (L + 0.1 T),  Td = 0.5 L T / (0.3 L + T)

    PI::

        K = (0.15 + (0.35 - L T / (L + T)^2) T / L) / Kp,  Ti = 0.35 L + 13 L T^2 / (T^2 + 12 L T + 7 L^2)

    Integrating process, with Kv the slope: K = 0.45 / (Kv L), Ti = 8 L, Td = 0.5 L and K = 0.35 / (Kv L), Ti = 13.4 L.
    The set-point weight is 0 where the lag dominates (L <= T) and 1 where the dead time does. The rule is conservative
    for lag-dominated processes (L < 0.4 T or so), where the two numbers of the model say too little.

    Parameters
    ----------
    gain, time_constant, dead_time : float
        Process model; dead_time > 0, ``time_constant=inf`` for an integrating process.
    kind : {"pid", "pi"}

    Returns
    -------
    Gains
        With the set-point weight b; derivative on the measurement is meant.

    Raises
    ------
    ValueError
        If the rule does not apply (no dead time: its gain would be infinite).

    Notes
    -----
    Source: Astrom and Hagglund (2004), the AMIGO step response rules for PI and PID.
    """
    settings.one_of("kind of AMIGO controller", kind, ("pi", "pid"))
    check_model(gain, time_constant, dead_time)
    need_dead_time("AMIGO", dead_time)
    if math.isinf(time_constant):
        form = _amigo_integrating(gain, dead_time, kind)
    else:
        form = _amigo_lag(gain, time_constant, dead_time, kind)
    return form.to_parallel()


def _amigo_integrating(slope: float, dead_time: float, kind: str) -> StandardForm:
    if kind == "pi":
        return StandardForm(0.35 / (slope * dead_time), 13.4 * dead_time, 0.0, b=0.0)
    return StandardForm(0.45 / (slope * dead_time), 8.0 * dead_time, 0.5 * dead_time, b=0.0)


def _amigo_lag(gain: float, lag: float, dead_time: float, kind: str) -> StandardForm:
    weight = 0.0 if dead_time <= lag else 1.0
    if kind == "pi":
        product = dead_time * lag
        proportional = 0.15 + (0.35 - product / (dead_time + lag) ** 2) * lag / dead_time
        integral_time = 0.35 * dead_time + 13.0 * product * lag / (lag**2 + 12.0 * product + 7.0 * dead_time**2)
        return StandardForm(proportional / gain, integral_time, 0.0, b=weight)
    integral_time = dead_time * (0.4 * dead_time + 0.8 * lag) / (dead_time + 0.1 * lag)
    derivative_time = 0.5 * dead_time * lag / (0.3 * dead_time + lag)
    return StandardForm((0.2 + 0.45 * lag / dead_time) / gain, integral_time, derivative_time, b=weight)


def ziegler_nichols(gain: float, time_constant: float, dead_time: float, *, kind: str = "pid") -> Gains:
    """Ziegler and Nichols' step-response ("reaction curve") rule.

    With a = R L, R the slope of the answer to a unit step (gain / time_constant, or `gain` of an integrating process)
    and L the dead time: P K = 1 / a; PI K = 0.9 / a, Ti = L / 0.3; PID K = 1.2 / a, Ti = 2 L, Td = L / 2.

    The rule aims at a quarter-amplitude decay: fast, with little robustness. The PID row is used in standard form, as
    text books do, though the controllers of 1942 were interacting ones.

    Parameters
    ----------
    gain, time_constant, dead_time : float
        Process model; dead_time > 0, ``time_constant=inf`` for an integrating process.
    kind : {"p", "pi", "pid"}

    Raises
    ------
    ValueError
        If the rule does not apply (no dead time: its gain would be infinite).

    Notes
    -----
    Source: Ziegler and Nichols (1942), settings from the process reaction curve.
    """
    settings.one_of("kind of Ziegler-Nichols controller", kind, KINDS)
    check_model(gain, time_constant, dead_time)
    need_dead_time("Ziegler-Nichols", dead_time)
    slope = gain if math.isinf(time_constant) else gain / time_constant
    rows = {
        "p": (1.0, math.inf, 0.0),
        "pi": (0.9, dead_time / 0.3, 0.0),
        "pid": (1.2, 2.0 * dead_time, 0.5 * dead_time),
    }
    factor, integral_time, derivative_time = rows[kind]
    return StandardForm(factor / (slope * dead_time), integral_time, derivative_time).to_parallel()


def ziegler_nichols_ultimate(ultimate_gain: float, ultimate_period: float, *, kind: str = "pid") -> Gains:
    """Ziegler and Nichols' ultimate-sensitivity rule.

    With Ku the proportional gain at which the loop just oscillates and Tu the period: P K = 0.5 Ku; PI K = 0.45 Ku,
    Ti = Tu / 1.2; PID K = 0.6 Ku, Ti = Tu / 2, Td = Tu / 8.

    Parameters
    ----------
    ultimate_gain : float
        Ku [u/y], not 0.
    ultimate_period : float
        Tu [s].
    kind : {"p", "pi", "pid"}

    Raises
    ------
    ValueError
        If Ku is 0 or not finite, or Tu is not positive.

    Notes
    -----
    Source: Ziegler and Nichols (1942), settings from the ultimate sensitivity.
    """
    settings.one_of("kind of Ziegler-Nichols controller", kind, KINDS)
    nonzero("ultimate_gain", ultimate_gain)
    period = settings.positive("ultimate_period", ultimate_period)
    rows = {"p": (0.5, math.inf, 0.0), "pi": (0.45, period / 1.2, 0.0), "pid": (0.6, 0.5 * period, 0.125 * period)}
    factor, integral_time, derivative_time = rows[kind]
    return StandardForm(factor * ultimate_gain, integral_time, derivative_time).to_parallel()
