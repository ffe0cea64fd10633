"""What a control law and a gain schedule are, in terms of the numbers they exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = Any  # float, NumPy array or traced number: blocks are generic in it
Numbers: TypeAlias = tuple[Number, ...]


class Law(Protocol):
    """Control law of one channel: a frozen dataclass of settings with these members.

    ``law`` is a block (a plain function of numbers and flat tuples) of one sample; ``continuous`` is the same law with
    the sample time going to zero, for loops closed inside the plant's derivative.
    """

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains `g`, in order."""

    @property
    def n_states(self) -> int:
        """Number of controller states `c`."""

    @property
    def sample_time(self) -> float | None:
        """Time between two samples [s]; None until the closed loop binds it."""

    def initial(self) -> tuple[float, ...]:
        """Return the controller state at t = 0."""

    def error_rate(self, r_rate: Number, y_rate: Number, c: Numbers) -> Number:
        """Return the error rate r' - y' that this sample's law uses."""

    def law(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Return the command and the new controller state."""

    def continuous(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Return the command and the rate of the controller state."""


@dataclass(frozen=True)
class Sweep:
    """A schedule's gains in three blocks, the middle one repeated: for schedules that sum over a grid.

    A compiled loop executes them in place of ``gains``, which computes the same at once: written out node by node, it
    would be far too long to compile.

    Attributes
    ----------
    count : int
        How often `advance` is executed.
    n_held, n_moving : int
        Numbers that `advance` reads only, and those that it renews.
    begin : callable (t, s, k, theta) -> (held, moving)
    advance : callable (held, moving) -> moving
    end : callable (t, s, k, theta, moving) -> (gains, new scheduler state)
    """

    count: int
    n_held: int
    n_moving: int
    begin: Callable[[Number, Numbers, Numbers, Numbers], tuple[Numbers, Numbers]]
    advance: Callable[[Numbers, Numbers], Numbers]
    end: Callable[[Number, Numbers, Numbers, Numbers, Numbers], tuple[Numbers, Numbers]]


class Schedule(Protocol):
    """Gains of all channels as a function of time and scheduling signals.

    `s` is (e_1, e_1', e_2, e_2', ..., then the extra plant outputs named in ``signals``), `k` the schedule's own state,
    `theta` its parameters: what a search may change. One whose gains are sums over a grid has ``sweep`` as well, a
    :class:`Sweep` or None. Whose margins are asked for has ``settled``, ``at_rest`` and ``probes``, as
    :class:`controllers.schedule.MemorylessSchedule`.
    """

    @property
    def n_states(self) -> int:
        """Number of scheduler states `k`."""

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the parameters `theta`, in order."""

    @property
    def tick(self) -> float | None:
        """Time between two updates of the gains [s]; None: every controller sample."""

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the extra plant outputs it reads."""

    def initial(self) -> tuple[float, ...]:
        """Return the scheduler state at t = 0."""

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains, channel after channel, and the new scheduler state."""
