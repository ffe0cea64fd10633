"""The law of a loop that is controlled from outside: the command is what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controllers import Controller
from controllers.schedule import ConstantGains, gain_names
from plants.core.elementary import clip
from sscq.observing import observing

if TYPE_CHECKING:
    from plants import Plant


@dataclass(frozen=True)
class DirectCommand:
    """A law (:class:`controllers.protocols.Law`) whose only gain is the command itself.

    Attributes
    ----------
    limits : (low, high), optional
        Range of the command; None: the channel's.
    sample_time : float, optional
        Time between two commands [s].
    """

    limits: tuple[float, float] | None = None
    sample_time: float | None = None

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The command."""
        return ("command",)

    @property
    def n_states(self) -> int:
        """None."""
        return 0

    def initial(self) -> tuple[float, ...]:
        """Return the empty state."""
        return ()

    def error_rate(self, r_rate: Any, y_rate: Any, c: Any) -> Any:  # noqa: ARG002
        """Return the error rate as it is: nothing is filtered."""
        return r_rate - y_rate

    def law(self, t: Any, r: Any, y: Any, r_rate: Any, y_rate: Any, c: Any, g: Any) -> tuple[Any, Any]:  # noqa: ARG002
        """Return the command inside its limits."""
        return (g[0] if self.limits is None else clip(g[0], *self.limits)), c

    continuous = law


def commanded(plant: Plant, sample_time: float | None) -> Controller:
    """Return the controller of a loop that is told its commands, and that looks at all measurements of the plant."""
    laws = (DirectCommand(sample_time=sample_time),) * len(plant.channels)
    outputs = tuple(quantity.name for quantity in plant.measurements)
    return observing(Controller(laws, ConstantGains(gain_names(laws))), outputs, len(laws))
