"""A controller: one law per channel and the schedule that gives their gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controllers.schedule import ConstantGains, gain_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers.protocols import Law, Schedule

_LAW = ("gain_names", "n_states", "sample_time", "initial", "error_rate", "law")
_SCHEDULE = ("n_states", "initial", "theta_names", "tick", "signals", "gains")


@dataclass(frozen=True)
class Controller:
    """Laws and the schedule of their gains.

    Attributes
    ----------
    laws : tuple of Law
        One per channel of the plant, in its order; a single law stands for one channel.
    schedule : Schedule
        Gives the gains of all channels, in the order of ``gain_names``.

    Raises
    ------
    TypeError
        If a law or the schedule lacks a member of its protocol.
    ValueError
        If there is no law, or the schedule's gains are not those of the laws.
    """

    laws: tuple[Law, ...]
    schedule: Schedule

    def __post_init__(self) -> None:
        """Check that laws and schedule fit."""
        given: object = self.laws
        laws = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        object.__setattr__(self, "laws", laws)
        _check_laws(laws, "a control law such as controllers.PID()")
        _require(self.schedule, _SCHEDULE, "a gain schedule such as controllers.ConstantGains()")
        scheduled = getattr(self.schedule, "gain_names", None)
        if scheduled is not None and tuple(scheduled) != self.gain_names:
            message = (
                f"the schedule gives {len(scheduled)} gains {tuple(scheduled)}, the laws need {len(self.gain_names)}, "
                f"in this order: {self.gain_names}; build it with gain_names=controllers.gain_names(laws)"
            )
            raise ValueError(message)
        highest = getattr(self.schedule, "highest_channel", 1)
        if highest > len(laws):
            message = f"the schedule reads an error of channel {highest}, but there are {len(laws)} laws"
            raise ValueError(message)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.laws)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains of all channels; with several channels with _1, _2, ... behind."""
        return gain_names(self.laws)

    @property
    def n_theta(self) -> int:
        """Number of parameters that a search may change."""
        return len(self.theta_names)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the schedule's parameters."""
        return tuple(self.schedule.theta_names)


def as_controller(what: object, n_channels: int = 1) -> Controller:
    """Return `what` as a controller of `n_channels` channels.

    Parameters
    ----------
    what : Controller, law, or tuple of laws
        A law stands for itself in every channel, with constant gains; a tuple of laws has one per channel. Anything
        with `laws` and `schedule` is a controller.
    n_channels : int
        Channels of the plant.

    Raises
    ------
    TypeError
        If `what` is none of these.
    ValueError
        If it has another number of channels.
    """
    if hasattr(what, "laws") and hasattr(what, "schedule"):
        controller = what if isinstance(what, Controller) else Controller(what.laws, what.schedule)
    elif isinstance(what, (tuple, list)):
        controller = _with_constant_gains(tuple(what))
    elif _missing(what, _SCHEDULE) == []:
        message = (
            f"{type(what).__name__} is a schedule and needs laws: "
            "controllers.Controller(laws=(controllers.PID(),), schedule=...)"
        )
        raise TypeError(message)
    else:
        controller = _with_constant_gains((what,) * n_channels)
    if controller.n_channels != n_channels:
        message = (
            f"the plant has {n_channels} control channels, the controller {controller.n_channels} laws; "
            "give one law per channel, in the plant's order"
        )
        raise ValueError(message)
    return controller


def _with_constant_gains(laws: tuple[object, ...]) -> Controller:
    _check_laws(laws, "a Controller, a law such as controllers.PID(), or a tuple of laws")
    return Controller(laws, ConstantGains(gain_names(laws)))  # type: ignore[arg-type]


def _check_laws(laws: tuple[object, ...], expected: str) -> None:
    if not laws:
        message = "a controller needs one law per channel, got none; give laws=(controllers.PID(),)"
        raise ValueError(message)
    for law in laws:
        _require(law, _LAW, expected)


def _missing(what: object, members: Sequence[str]) -> list[str]:
    return [name for name in members if not hasattr(what, name)]


def _require(what: object, members: Sequence[str], expected: str) -> None:
    missing = _missing(what, members)
    if isinstance(what, type):
        message = f"expected {expected}, got the class {what.__name__} itself; call it: {what.__name__}()"
        raise TypeError(message)
    if missing:
        message = f"expected {expected}, got {type(what).__name__}, which lacks {', '.join(missing)}"
        raise TypeError(message)
