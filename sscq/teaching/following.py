"""A gain schedule that can be switched to constant gains: how a teacher is asked along another controller's run.

The loop goes on with the schedule's own gains; from a snapshot of it, the very same kernel tries constant ones. Nothing
has to be carried over from one kind of loop to another: plant, filters, delay lines, noise and the schedule's own state
are in the one snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import Controller
from plants.core.elementary import where
from sscq.loop.observation import SurroundingSchedule

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SwitchedSchedule(SurroundingSchedule):
    """A schedule's gains, or constant ones in their place; those too are taken over at a tick.

    theta holds the schedule's own parameters, then the switch "held" (above 0: the constant gains), then these. Its
    state goes on also while its gains are not used, as it sees the loop.

    Attributes
    ----------
    gain_names : tuple of str
        Of all channels.
    """

    gain_names: tuple[str, ...]

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return (*self.schedule.theta_names, "held", *(f"{name} held" for name in self.gain_names))

    def gains(self, t: Any, s: Any, k: Any, theta: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the gains at this tick and the schedule's new state: a block."""
        n = len(self.schedule.theta_names)
        own, state = self.schedule.gains(t, s, k, theta[:n])
        held = theta[n + 1 :]
        return tuple(where(theta[n], a, b) for a, b in zip(held, own, strict=True)), state

    def asked(self, own: NDArray[np.float64], gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return theta [n, n_theta] that holds gains [n, n_gains]; `own` are the schedule's parameters."""
        ones = np.ones((len(gains), 1))
        return np.hstack([np.tile(own, (len(gains), 1)), ones, gains])

    def released(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return theta [1, n_theta] that leaves the schedule its own gains."""
        return np.concatenate([own, np.zeros(1 + len(self.gain_names))])[None, :]


class Leading:
    """The loop goes on with the gains that the teacher finds."""

    def __init__(self, laws: Any) -> None:
        self.controller = laws

    def asked(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return theta [n, n_theta] of constant gains [n, n_gains]."""
        return gains

    def goes_on(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return theta [1, n_theta] of the window that follows these gains [n_gains]."""
        return gains[None, :]


class Following:
    """The loop goes on with the own gains of a scheduled controller, whatever the teacher finds best.

    Parameters
    ----------
    controller : Controller
        With any schedule.
    theta : ndarray [n_theta]
        The schedule's parameters.
    """

    def __init__(self, controller: Controller, theta: NDArray[np.float64]) -> None:
        self.schedule = SwitchedSchedule(controller.schedule, controller.gain_names)
        self.controller = Controller(controller.laws, self.schedule)
        self.theta = np.asarray(theta, dtype=np.float64)

    def asked(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return theta [n, n_theta] that tries constant gains [n, n_gains]."""
        return self.schedule.asked(self.theta, gains)

    def goes_on(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  (they are only written down)
        """Return theta [1, n_theta] of the controller's own gains."""
        return self.schedule.released(self.theta)
