"""What a map over two ranges shows: cost and lost loops of several controllers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MapView:
    """Cost and lost loops of several controllers over two quantities.

    Attributes
    ----------
    situation : str
        What is run at every point, in words.
    x_name, x_unit, y_name, y_unit : str
    x, y : array [n_x], [n_y]
    place : (x, y) or None
        The situation's own values; None: outside the map.
    controllers : tuple of str
        Their names; the first is what the others are compared with.
    cost : array [controller, n_y, n_x]
        NaN where the plant cannot start.
    lost : array [controller, n_y, n_x]
        Share of the seeds whose loop is lost.
    """

    situation: str
    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    x: Array
    y: Array
    place: tuple[float, float] | None
    controllers: tuple[str, ...]
    cost: Array
    lost: Array

    def __post_init__(self) -> None:
        """Check the shapes."""
        wanted = (len(self.controllers), len(self.y), len(self.x))
        for name in ("cost", "lost"):
            if np.shape(getattr(self, name)) != wanted:
                raise ValueError(f"{name} of a map must have shape {wanted}, got {np.shape(getattr(self, name))}")
