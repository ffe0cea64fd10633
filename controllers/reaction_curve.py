"""More rules from the answer to a step: Chien-Hrones-Reswick, Cohen-Coon, lambda tuning.

Models as in :mod:`controllers.tuning`: gain, time constant (infinite: integrating, where the rule knows it), dead time;
what all rules ask of these numbers is checked here.

Sources
-------
Chien, Hrones and Reswick, On the automatic control of generalized passive systems, Trans. ASME 74 (1952), 175-185.
Cohen and Coon, Theoretical consideration of retarded control, Trans. ASME 75 (1953), 827-834.
Dahlin, Designing and tuning digital controllers, Instruments and Control Systems 42 (1968), 77-83; the rules with
dead time in Astrom and Hagglund, Advanced PID Control (ISA, 2006), sec. 6.5.
"""

from __future__ import annotations

import math

from controllers import settings
from controllers.forms import Gains, StandardForm

KINDS = ("p", "pi", "pid")
_OVERSHOOTS = (0, 20)
# Factor of 1/a, Ti and Td; times of the set-point rows are in time constants (Ti) and dead times (Td).
_LOAD = {
    ("p", 0): (0.3, math.inf, 0.0), ("pi", 0): (0.6, 4.0, 0.0), ("pid", 0): (0.95, 2.4, 0.42),
    ("p", 20): (0.7, math.inf, 0.0), ("pi", 20): (0.7, 2.3, 0.0), ("pid", 20): (1.2, 2.0, 0.42),
}  # fmt: skip
_SET_POINT = {
    ("p", 0): (0.3, math.inf, 0.0), ("pi", 0): (0.35, 1.2, 0.0), ("pid", 0): (0.6, 1.0, 0.5),
    ("p", 20): (0.7, math.inf, 0.0), ("pi", 20): (0.6, 1.0, 0.0), ("pid", 20): (0.95, 1.4, 0.47),
}  # fmt: skip


def chien_hrones_reswick(
    gain: float, time_constant: float, dead_time: float, *, kind: str = "pid", task: str = "load", overshoot: int = 0
) -> Gains:
    """Chien, Hrones and Reswick's rule (CHR): Ziegler-Nichols' with more damping, for loads or for set points.

    With a = gain L / T: K = c / a; the times are multiples of L for loads, Ti a multiple of T for set points.

    ========= ========== ===================== ========================
    overshoot  kind       load: c, Ti/L, Td/L   set point: c, Ti/T, Td/L
    ========= ========== ===================== ========================
    0 %       PID        0.95, 2.4, 0.42       0.6, 1, 0.5
    0 %       PI         0.6, 4                0.35, 1.2
    20 %      PID        1.2, 2, 0.42          0.95, 1.4, 0.47
    20 %      PI         0.7, 2.3              0.6, 1
    ========= ========== ===================== ========================

    P: c = 0.3 (0 %) and 0.7 (20 %).

    Parameters
    ----------
    gain, time_constant, dead_time : float
        Process model; finite time constant, dead time above 0.
    kind : {"p", "pi", "pid"}
    task : {"load", "set point"}
    overshoot : {0, 20}
        In percent.

    Raises
    ------
    ValueError
        If the rule does not apply.

    Notes
    -----
    Source: Chien, Hrones and Reswick (1952); the same table in Astrom and Hagglund, PID Controllers (ISA, 1995), 4.2.
    """
    settings.one_of("kind of Chien-Hrones-Reswick controller", kind, KINDS)
    settings.one_of("task of the Chien-Hrones-Reswick rule", task, ("load", "set point"))
    if overshoot not in _OVERSHOOTS:
        message = f"overshoot of the Chien-Hrones-Reswick rule must be 0 or 20 %, got {overshoot}"
        raise ValueError(message)
    _check("Chien-Hrones-Reswick", gain, time_constant, dead_time)
    factor, integral, derivative = (_LOAD if task == "load" else _SET_POINT)[kind, overshoot]
    unit = dead_time if task == "load" else time_constant
    form = StandardForm(factor * time_constant / (gain * dead_time), integral * unit, derivative * dead_time)
    return form.to_parallel()


def cohen_coon(gain: float, time_constant: float, dead_time: float, *, kind: str = "pid") -> Gains:
    """Cohen and Coon's rule: loads with quarter-amplitude decay, for longer dead times than Ziegler and Nichols.

    With r = L / T and k = T / (gain L): P K = k (1 + r / 3); PI K = k (0.9 + r / 12),
    Ti = L (30 + 3 r) / (9 + 20 r); PID K = k (4/3 + r / 4), Ti = L (32 + 6 r) / (13 + 8 r), Td = 4 L / (11 + 2 r).

    Parameters
    ----------
    gain, time_constant, dead_time : float
        Process model; finite time constant, dead time above 0.
    kind : {"p", "pi", "pid"}

    Raises
    ------
    ValueError
        If the rule does not apply.

    Notes
    -----
    Source: Cohen and Coon (1953).
    """
    settings.one_of("kind of Cohen-Coon controller", kind, KINDS)
    _check("Cohen-Coon", gain, time_constant, dead_time)
    r = dead_time / time_constant
    rows = {
        "p": (1.0 + r / 3.0, math.inf, 0.0),
        "pi": (0.9 + r / 12.0, dead_time * (30.0 + 3.0 * r) / (9.0 + 20.0 * r), 0.0),
        "pid": (
            4.0 / 3.0 + r / 4.0,
            dead_time * (32.0 + 6.0 * r) / (13.0 + 8.0 * r),
            4.0 * dead_time / (11.0 + 2.0 * r),
        ),
    }
    factor, integral_time, derivative_time = rows[kind]
    return StandardForm(factor / (gain * r), integral_time, derivative_time).to_parallel()


def lambda_tuning(
    gain: float, time_constant: float, dead_time: float, *, closed_loop_time: float | None = None, kind: str = "pid"
) -> Gains:
    """Lambda tuning: the closed loop's time constant is chosen, the process's slowest lag is cancelled.

    With lambda the wanted time constant: PI K = T / (gain (lambda + L)), Ti = T; PID K = (T + L / 2) /
    (gain (lambda + L / 2)), Ti = T + L / 2, Td = T L / (2 T + L). Integrating process: PI
    K = (2 lambda + L) / (gain (lambda + L)^2), Ti = 2 lambda + L.

    Parameters
    ----------
    gain, time_constant, dead_time : float
        Process model; ``time_constant=inf`` for an integrating process (PI only).
    closed_loop_time : float, optional
        lambda [s]; default the time constant; 3 dead times for an integrating process.
    kind : {"pi", "pid"}

    Raises
    ------
    ValueError
        If the rule does not apply.

    Notes
    -----
    Source: Dahlin (1968); Astrom and Hagglund (2006), sec. 6.5.
    """
    settings.one_of("kind of lambda-tuned controller", kind, ("pi", "pid"))
    check_model(gain, time_constant, dead_time)
    integrating = math.isinf(time_constant)
    usual = 3.0 * dead_time if integrating else time_constant
    wanted = settings.positive("closed_loop_time", usual if closed_loop_time is None else closed_loop_time)
    if integrating:
        if kind == "pid":
            message = "lambda tuning of an integrating process gives a PI controller; ask for kind='pi'"
            raise ValueError(message)
        integral_time = 2.0 * wanted + dead_time
        return StandardForm(integral_time / (gain * (wanted + dead_time) ** 2), integral_time, 0.0).to_parallel()
    if kind == "pi":
        return StandardForm(time_constant / (gain * (wanted + dead_time)), time_constant, 0.0).to_parallel()
    half, integral_time = 0.5 * dead_time, time_constant + 0.5 * dead_time
    derivative_time = time_constant * dead_time / (2.0 * time_constant + dead_time)
    return StandardForm(integral_time / (gain * (wanted + half)), integral_time, derivative_time).to_parallel()


def _check(rule: str, gain: float, time_constant: float, dead_time: float) -> None:
    check_model(gain, time_constant, dead_time)
    need_dead_time(rule, dead_time)
    if math.isinf(time_constant):
        message = f"the {rule} rule needs a finite time constant; use simc or amigo for an integrating process"
        raise ValueError(message)


def nonzero(what: str, value: float) -> None:
    """Refuse 0."""
    if settings.finite(what, value) == 0.0:
        message = f"{what} must not be 0: a process that does not answer cannot be controlled"
        raise ValueError(message)


def check_model(gain: float, time_constant: float, dead_time: float) -> None:
    """Refuse numbers that are no process model."""
    nonzero("gain", gain)
    if not time_constant > 0.0:
        message = f"time_constant must be positive [s] (inf: integrating process), got {time_constant}"
        raise ValueError(message)
    if settings.finite("dead_time", dead_time) < 0.0:
        message = f"dead_time must be 0 or positive [s], got {dead_time}"
        raise ValueError(message)


def need_dead_time(rule: str, dead_time: float) -> None:
    """Refuse a model without dead time, for a rule whose gain is proportional to its inverse."""
    if dead_time == 0.0:
        message = (
            f"the {rule} rule needs a dead time above 0 (its gain is proportional to 1 / dead_time); "
            "use simc with closed_loop_time, or count half a sample time as dead time"
        )
        raise ValueError(message)
