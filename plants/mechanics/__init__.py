"""Mechanics kit: declare energies and constraints, get plants.

A :class:`Mechanism` is declared, `algebra` differentiates it, `forms` make equations of motion of that, `build`
checks them and gives a plant. Gaps are in `contacts`; `runs` follow one mechanism at a time, as a reference.
"""

from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.gauss_function import GaussFunction, gauss_function
from plants.mechanics.mechanism import Mechanism

__all__ = ["DeclarationError", "GaussFunction", "Mechanism", "gauss_function"]
