"""Mechanics kit: declare energies and constraints, get plants.

A :class:`Mechanism` is declared, `algebra` differentiates it, `forms` make equations of motion of that, `build`
checks them and gives a plant. Gaps are in `contacts`; `runs` follow one mechanism at a time, as a reference.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.mechanism import Mechanism

if TYPE_CHECKING:
    from plants.mechanics.gauss import GaussFunction, gauss_function

_DERIVING = ("GaussFunction", "gauss_function")  # these need computer algebra, which a stored mechanism does without

__all__ = ["DeclarationError", "GaussFunction", "Mechanism", "gauss_function"]


def __getattr__(name: str) -> Any:
    if name in _DERIVING:
        return getattr(import_module("plants.mechanics.gauss"), name)
    raise AttributeError(f"module 'plants.mechanics' has no attribute {name!r}")
