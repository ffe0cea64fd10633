"""What a simulation gives: all signals over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.motion import plots
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from plants.core.algebraic_loop.report import LoopReport


class DivergedError(ArithmeticError):
    """A simulation left the region where the plant's model holds."""


@dataclass(frozen=True)
class Trajectory:
    """A recorded simulation.

    Attributes
    ----------
    time : ndarray [n + 1], s
    signals : ndarray [n + 1, n_signals]
    names, units : tuple of str
    groups : mapping of str to slice
        Columns of "states", "outputs", "inputs", "disturbances", ...
    evaluations : int
        Of the right-hand side: of the derivative, or of the equations of the accelerations where these are iterated.
    loop : LoopReport or None
        How the plant's algebraic loop was treated, and how it went; None where the plant has none.
    """

    time: np.ndarray
    signals: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]
    groups: Mapping[str, slice]
    evaluations: int = 0
    loop: LoopReport | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the signal called `name` [n + 1]."""
        if name not in self.names:
            raise KeyError(unknown("signal", name, self.names))
        return self.signals[:, self.names.index(name)]

    def group(self, name: str) -> np.ndarray:
        """Return the signals of a group [n + 1, n]."""
        return self.signals[:, self.groups[name]]

    @property
    def states(self) -> np.ndarray:
        """States [n + 1, n_x]."""
        return self.group("states")

    @property
    def outputs(self) -> np.ndarray:
        """Measurements [n + 1, n_y]."""
        return self.group("outputs")

    def plot(self, names: Sequence[str] | None = None, axes: Any = None) -> Any:
        """Draw signals over time with matplotlib, see :func:`plants.core.motion.plots.plot`; return the axes."""
        return plots.plot(self, names, axes)

    def plot_phase(self, x: str, y: str, axes: Any = None) -> Any:
        """Draw one signal over another with matplotlib; return the axes."""
        return plots.phase(self, x, y, axes)

    @property
    def entropy(self) -> np.ndarray:
        """Entropy production of the plant times T0 since the start [n + 1], J."""
        return self.group("entropy")[:, 0]

    @property
    def supplied(self) -> np.ndarray:
        """Energy supplied through inputs and disturbances since the start [n + 1], J."""
        return self.group("supplied")[:, 0]
