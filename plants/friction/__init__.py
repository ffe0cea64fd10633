"""Friction laws that any plant can use: blocks on numbers, arrays and the tape.

Coefficients are friction per unit of normal force where the parameters are (1/m, s/m), or forces where they are
forces.
"""

from plants.friction.lugre import LuGre
from plants.friction.static import coulomb, stribeck, viscous

__all__ = ["LuGre", "coulomb", "stribeck", "viscous"]
