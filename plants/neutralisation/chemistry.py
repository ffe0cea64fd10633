"""Acid-base chemistry of dissolved carbonate, explicit in the pH: charges, buffer capacity, free energy.

Two sums change by mixing alone, whatever the ions do among themselves, the reaction invariants

    Wa = [H+] - [OH-] - [HCO3-] - 2 [CO3--]  (= [NO3-] - [Na+]: strong acid less strong base),
    Wb = [H2CO3] + [HCO3-] + [CO3--].

Given both, the pH is the root of an equation of fourth degree. Given the pH and Wb, everything is explicit: so the tank
has the pH as a state, and no equation is left to solve. All concentrations are in mol/m^3.

Sources: T. J. McAvoy, E. Hsu and S. Lowenthal, Dynamics of pH in controlled stirred tank reactor, Ind. Eng. Chem.
Process Des. Dev. 11 (1972), 68-70 (the balances); T. K. Gustafsson and K. V. Waller, Dynamic modeling and reaction
invariant control of pH, Chem. Eng. Science 38 (1983), 389-398 (invariants); constants of carbonic acid and of water, at
25 degC, as M. A. Henson and D. E. Seborg quote them (see :mod:`plants.neutralisation.tank`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from plants import exergy
from plants.core.elementary import exp, log, sqrt

LN10 = math.log(10.0)
_MOLAR = 1e3  # mol/m^3 in 1 mol/L
FIRST, SECOND, WATER = _MOLAR * 10.0**-6.35, _MOLAR * 10.0**-10.25, _MOLAR * _MOLAR * 1e-14
"""Dissociation constants of carbonic acid [mol/m^3] and of water [mol^2/m^6]."""

_RT = 8.314462618 * exergy.T0  # J/mol


class Speciation(NamedTuple):
    """What the pH alone decides.

    Attributes
    ----------
    hydrogen, hydroxide : number
        Concentrations [mol/m^3].
    shares : tuple of 3 numbers
        Of dissolved carbonate: as H2CO3, HCO3- and CO3--.
    """

    hydrogen: Any
    hydroxide: Any
    shares: tuple[Any, Any, Any]

    @property
    def charge(self) -> Any:
        """Negative charges of a mole of carbonate, 0 to 2."""
        _acid, single, double = self.shares
        return single + 2.0 * double


def speciation(pH: Any) -> Speciation:
    """Return the concentrations of H+ and OH- and the shares of the carbonates."""
    inverse = exp(LN10 * pH) / _MOLAR
    hydrogen = _MOLAR * exp(-LN10 * pH)
    once, twice = FIRST * inverse, FIRST * SECOND * inverse * inverse
    acid = 1.0 / (1.0 + once + twice)
    return Speciation(hydrogen, WATER * inverse, (acid, once * acid, twice * acid))


def acid_excess(at: Speciation, strong: Any, carbonate: Any) -> Any:
    """Strong acid [mol/m^3] that a liquid (Wa, Wb) has beyond what it would have at this pH: 0 at its own."""
    return strong + carbonate * at.charge - (at.hydrogen - at.hydroxide)


def strong_acid(at: Speciation, carbonate: Any) -> Any:
    """Wa [mol/m^3] of a liquid of this pH."""
    return at.hydrogen - at.hydroxide - carbonate * at.charge


def buffer_capacity(at: Speciation, carbonate: Any) -> Any:
    """Strong base [mol/m^3] that moves the pH by 1: the inverse slope of the titration curve, never 0."""
    acid, single, double = at.shares
    exchanging = acid * single + single * double + 4.0 * acid * double
    return LN10 * (carbonate * exchanging + at.hydrogen + at.hydroxide)


def free_energy(at: Speciation, strong: Any, carbonate: Any, inside: Any) -> Any:
    """Free energy [J/m^3] of a liquid (Wa, Wb) at the potentials of a pH and of `inside` mol/m^3 of carbonate.

    Of an ideal dilute solution: R T0 (Wa ln[H+] + Wb ln[H2CO3] - [H+] - [OH-] - Wb'). With its own pH and its own Wb'
    it is the liquid's free energy; with those of another one it is that one's tangent, which lies below, because free
    energy is convex in what is mixed. Sodium and nitrate, which take no part in any reaction, are left out.
    """
    acid = log(inside * at.shares[0])
    return _RT * (strong * log(at.hydrogen) + carbonate * acid - at.hydrogen - at.hydroxide - inside)


def of_strong_acid(strong: Any) -> Any:
    """Free energy [J/m^3] of a liquid without carbonate; [H+] is the root of a quadratic."""
    hydrogen = 0.5 * (strong + sqrt(strong * strong + 4.0 * WATER))
    return _RT * (strong * log(hydrogen) - hydrogen - WATER / hydrogen)


def ph_of(strong: float, carbonate: float) -> float:
    """Return the pH of a liquid (Wa, Wb), of floats: by bisection to the last bit, for feeds that do not change."""
    low, high = -2.0, 16.0
    while low < (middle := 0.5 * (low + high)) < high:
        if acid_excess(speciation(middle), strong, carbonate) > 0.0:
            high = middle
        else:
            low = middle
    return middle
