"""Mechanics kit: declare energies and constraints, get plants."""

from plants.mechanics.mechanism import Mechanism

__all__ = ["Mechanism"]
