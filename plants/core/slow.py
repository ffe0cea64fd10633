"""Plants that somebody else moves: a program of another package, stepped one integration step at a time.

Such a plant is declared like any other; what its states are, the other program shows: the blocks (outputs, entropy
production, measures) work on these. How it moves, a session tells. A session is opened by name in a process of its own,
with settings that are plain data: no code travels between processes.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from plants.core.presentation import Presentation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.plant import Plant


class LostError(ArithmeticError):
    """A session cannot go on from here (its solver gave up, its model ended): the rollout counts as diverged."""


class SlowSession(Protocol):
    """One instance of the program."""

    def start(self, parameters: Sequence[float], initial: Mapping[str, float]) -> Sequence[float]:
        """Begin anew at time 0; `initial` has the states that are given. Return the states."""

    def step(self, t: float, u: Sequence[float], w: Sequence[float], h: float) -> Sequence[float]:
        """Return the states at t + h, with inputs and disturbances held; raise LostError where there are none."""

    def close(self) -> None:
        """Give everything back."""


@dataclass(frozen=True)
class SlowPlant:
    """A plant that is stepped outside the compiled kernels.

    Attributes
    ----------
    plant : Plant
        Its declaration. `derivative`, `advance` and `after_step` are not used: the session moves the states.
    opener : str
        ``"module:function"``; called with `settings`, it returns a :class:`SlowSession`.
    settings : mapping
        Plain data (what JSON can carry).
    alone : bool
        Two sessions must not live in one process.
    together : str
        ``"module:function"``, where the program moves many rollouts at a time by itself; what it returns is a
        :class:`sscq.loop.slow.Crew`, used in place of processes with sessions.
    """

    plant: Plant
    opener: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    alone: bool = False
    together: str = ""

    @property
    def name(self) -> str:
        """The declared plant's."""
        return self.plant.name

    def __getattr__(self, name: str) -> Any:
        """Say what a slow plant is good for where one is taken for a plant with equations."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"plant {self.plant.name!r} is moved by another program and has no {name!r}: sscq.evaluate takes it, but "
            "searches and records need equations; design for it through a fitted model (sscq surrogate)"
        )

    def open(self) -> SlowSession:
        """Open a session in this process."""
        return opened(self.opener, self.settings)


def opened(opener: str, settings: Mapping[str, Any]) -> Any:
    """Return what an opener gives: a new :class:`SlowSession`, or one that moves many.

    Raises
    ------
    ValueError
        If there is no such function.
    """
    module, _, name = opener.partition(":")
    function = getattr(importlib.import_module(module), name, None)
    if not callable(function):
        raise ValueError(f"opener must be 'module:function', got {opener!r}")  # noqa: TRY004  (it is a name that is wrong)
    return function(dict(settings))


def resting(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    """Return state rates of 0: where a session moves the states, there are no equations."""
    return (0.0,) * len(x)


def shadow(plant: Plant) -> Plant:
    """Return a plant for the kernel that rests, and keeps what reached it in a step as further states.

    Its states are those of `plant`, then inputs and disturbances as they were held in the last step.
    """
    n = len(plant.states)
    free: dict[str, Any] = {"nominal": 0.0, "low": -float("inf"), "high": float("inf")}
    held = [replace(q, name=f"held {q.name}", **free) for q in (*plant.inputs, *plant.disturbances)]

    def kept(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Any:
        return (*x[:n], *u, *w)

    def cut(block: Any) -> Any:
        return None if block is None else lambda t, x, *rest: block(t, x[:n], *rest)

    measures = tuple(replace(m, update=cut(m.update)) for m in plant.measures)
    return replace(
        plant,
        states=(*plant.states, *held), measurements=plant.measurements,
        derivative=resting, advance=kept,
        outputs=cut(plant.outputs), entropy_rate=cut(plant.entropy_rate), allocate=cut(plant.allocate),
        energy=None, supplied_power=None, mass_matrix=None, force=None, acceleration=None, kinematics=None,
        velocities=(), after_step=None, loses_at_rest=False, constraints=None, admissible=None, equations=None,
        task=replace(plant.task, measures=measures, operating_points=(), rivals=()), presentation=Presentation(),
    )  # fmt: skip
