"""Friction as a function of the sliding speed alone: viscous, regularised Coulomb, Stribeck's curve."""

from __future__ import annotations

from typing import Any

from plants.core.elementary import exp, pow, sqrt  # noqa: A004  (the field's name)


def viscous(v: Any, slope: Any) -> Any:
    """Friction proportional to the speed `v` [m/s]: slope * v."""
    return slope * v


def coulomb(v: Any, level: Any, smoothing: Any) -> Any:
    """Coulomb friction that passes smoothly through 0: level * v / sqrt(v^2 + smoothing^2).

    Parameters
    ----------
    v : number
        Sliding speed [m/s].
    level : number
        Friction far from rest [N, or 1 per unit load].
    smoothing : number
        Speed at which 71 % of it acts [m/s], above 0. A body under a smaller load creeps: it never sticks.
    """
    return level * v / sqrt(v * v + smoothing * smoothing)


def stribeck(speed: Any, static: Any, kinetic: Any, velocity: Any, exponent: float = 2.0) -> Any:
    """Stribeck's curve, kinetic + (static - kinetic) exp(-(speed / velocity)^exponent).

    Parameters
    ----------
    speed : number
        Magnitude of the sliding velocity [m/s].
    velocity : number
        Where the fall has done 63 % [m/s].
    exponent : float
        Mostly 1 or 2.
    """
    ratio = speed / velocity
    power = ratio * ratio if exponent == 2.0 else pow(ratio, exponent)
    return kinetic + (static - kinetic) * exp(-power)
