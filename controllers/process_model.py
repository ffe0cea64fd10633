"""What tuning rules ask of the numbers of a process model."""

from __future__ import annotations

from controllers import settings


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
