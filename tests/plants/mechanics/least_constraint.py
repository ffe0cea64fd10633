"""Gauss' function of an acceleration, which the true one makes smallest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from plants.mechanics.algebra.blocks import Matrices


def constraint_function(at: Matrices, acceleration: np.ndarray[Any, Any]) -> float:
    """Gauss' function Z = (a - a0)' M (a - a0) / 2 of an acceleration [n]."""
    away = acceleration - np.linalg.solve(at.mass, at.load)
    return float(0.5 * away @ at.mass @ away)
