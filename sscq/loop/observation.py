"""Schedules around another one.

Here is the one that also looks at plant outputs it does not use, so that they stand among the recorded signals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controllers import Controller, as_controller

if TYPE_CHECKING:
    from controllers.protocols import Schedule


@dataclass(frozen=True)
class SurroundingSchedule:
    """A schedule around another one, which has all of that one but what it changes; see :class:`controllers.Schedule`.

    Attributes
    ----------
    schedule : Schedule
        Gives the gains; its state is the state.
    """

    schedule: Schedule

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.schedule.theta_names

    @property
    def tick(self) -> float | None:
        """Time between two updates [s]."""
        return self.schedule.tick

    @property
    def signals(self) -> tuple[str, ...]:
        """Extra plant outputs that are read."""
        return self.schedule.signals

    @property
    def n_states(self) -> int:
        """Number of scheduler states."""
        return self.schedule.n_states

    def initial(self) -> tuple[float, ...]:
        """Return the state at t = 0."""
        return self.schedule.initial()


@dataclass(frozen=True)
class Observing(SurroundingSchedule):
    """The schedule of another controller, with more signals.

    Attributes
    ----------
    outputs : tuple of str
        Plant outputs beyond those that the schedule reads, as the sensors show them.
    """

    outputs: tuple[str, ...]

    @property
    def signals(self) -> tuple[str, ...]:
        """Extra plant outputs: the schedule's own, then those that are only looked at."""
        return (*self.schedule.signals, *self.outputs)

    def gains(self, t: Any, s: Any, k: Any, theta: Any) -> tuple[Any, Any]:
        """Return the gains of the schedule, which does not see the outputs: a block."""
        return self.schedule.gains(t, tuple(s)[: len(s) - len(self.outputs)], k, theta)


def observing(controller: Any, outputs: tuple[str, ...], n_channels: int) -> Controller:
    """Return a controller that also looks at plant outputs; without any, it is compiled as it is."""
    given = as_controller(controller, n_channels)
    return Controller(given.laws, Observing(given.schedule, outputs)) if outputs else given
