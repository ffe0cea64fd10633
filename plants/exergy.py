"""Energy balances of heated bodies, written for work: stored exergy, exergy of heat, and what is lost on the way.

Heat alone closes no balance with an entropy rate: its energy is conserved. What is lost is exergy, the work that could
have been had in surroundings at T0. For every body: exergy gained = exergy supplied - T0 dS/dt.

Source: A. Bejan, Advanced Engineering Thermodynamics, ch. 3 (exergy, Gouy-Stodola theorem).
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import log

T0 = 293.15
"""Temperature of the surroundings [K], the project's."""


def stored(capacity: Any, temperature: Any) -> Any:
    """Exergy [J] of a body with this heat capacity [J/K]: C (T - T0 - T0 ln(T / T0)), 0 at T0."""
    return capacity * (temperature - T0 - T0 * log(temperature / T0))


def of_heat(heat: Any, temperature: Any) -> Any:
    """Exergy [W] of a flow of heat [W] at a temperature [K]: Carnot's share 1 - T0 / T."""
    return heat * (1.0 - T0 / temperature)


def lost_by_transfer(heat: Any, hot: Any, cold: Any) -> Any:
    """T0 dS/dt [W] of heat [W] that passes from one temperature [K] to another: T0 heat (1 / cold - 1 / hot)."""
    return T0 * heat * (hot - cold) / (hot * cold)


def lost_as_heat(power: Any, temperature: Any) -> Any:
    """T0 dS/dt [W] of electric power [W] that becomes heat at a temperature [K]: the share T0 / T."""
    return power * (T0 / temperature)


def lost_by_mixing(capacity_flow: Any, entering: Any, inside: Any) -> Any:
    """T0 dS/dt [W] of a flow [W/K] that mixes into contents of another temperature [K]; never negative."""
    ratio = entering / inside
    return T0 * capacity_flow * (ratio - 1.0 - log(ratio))


def of_flow(capacity_flow: Any, entering: Any, leaving: Any) -> Any:
    """Exergy [W] that a flow [W/K] brings when it enters and leaves at these temperatures [K]."""
    return capacity_flow * (entering - leaving - T0 * log(entering / leaving))
