"""Mechanics kit: declare energies and constraints, get plants."""

from plants.mechanics.declaring.mechanism import Mechanism

__all__ = ["Mechanism"]
