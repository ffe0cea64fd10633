"""Evaluate closed loops: the public way to the compiled kernel."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel.run import thread_count
from plants.core.slow import SlowPlant
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import all_measures
from sscq.loop.slow import SlowLoop, crew
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.loop.quality import Quality


def evaluate(
    plant: Plant | SlowPlant,
    controller: Any,
    gains: Any,
    situations: Sequence[Situation] | Situation,
    step: float = 0.01,
    integrator: str = "rk4",
    algebraic_loop: str = "solved",
    *,
    measures: Sequence[str] | None = None,
    entropy_scale: float = 1.0,
    threads: int | None = None,
    device: str = "cpu",
) -> Quality:
    """Return the quality of control of every candidate in every situation.

    Parameters
    ----------
    plant : Plant or SlowPlant
    controller : Controller, law such as `controllers.PID`, or tuple of laws
    gains : array [candidate, n_theta], or [n_theta] for one candidate
        What the controller's schedule leaves free: kp, ki, kd of each channel for constant gains. None: the
        controller's own numbers (`theta` of a fuzzy controller).
    situations : sequence of Situation
    step : float
        Integration step [s].
    measures : sequence of str
        Which measures to compute; fewer are faster. Left out: the built-in ones and the plant's own.
    threads : int, optional
        Left out: all processors. The results do not depend on it. Of a slow plant: processes.
    device : str
        "cuda": on an NVIDIA GPU, one thread a rollout. The same bits as on the CPU but for noise, whose logarithm, sine
        and cosine round otherwise.

    Returns
    -------
    Quality
        With arrays [situation, candidate].

    Warns
    -----
    LoopGainWarning
        Once, where a loop-free mode met a gain of the plant's algebraic loop that it does not bear.
    """
    several = (situations,) if isinstance(situations, Situation) else tuple(situations)
    if isinstance(plant, SlowPlant):
        _moved_elsewhere(plant, integrator, algebraic_loop, device)
        slow = SlowLoop(plant, controller, several, step, measures=measures, entropy_scale=entropy_scale)
        with closing(crew(plant, thread_count(threads))) as members:
            return slow.evaluate(as_theta(controller, slow.loop, gains), members)
    wanted = all_measures(plant) if measures is None else measures
    loop = ClosedLoop(
        plant, controller, several, step, integrator=integrator, algebraic_loop=algebraic_loop, measures=wanted,
        entropy_scale=entropy_scale, device=device,
    )  # fmt: skip
    return loop.evaluate(as_theta(controller, loop, gains), threads, stacklevel=2)


def _moved_elsewhere(plant: SlowPlant, integrator: str, algebraic_loop: str, device: str) -> None:
    if device != "cpu":
        raise ValueError(f"plant {plant.name!r} is moved by another program, which no GPU runs; leave device out")
    if (integrator, algebraic_loop) != ("rk4", "solved"):
        raise ValueError(
            f"plant {plant.name!r} is moved by another program: integrator={integrator!r} and "
            f"algebraic_loop={algebraic_loop!r} mean nothing for it; leave them out"
        )


def as_theta(controller: Any, loop: ClosedLoop, gains: Any) -> np.ndarray:
    """Return candidates as an array [n, n_theta] of finite numbers, or raise with what was expected."""
    names = loop.spec.controller.theta_names
    if gains is None:
        gains = getattr(controller, "theta", ())
    theta = np.atleast_2d(np.asarray(gains, dtype=float))
    if theta.ndim != 2 or theta.shape[1] != len(names):
        few = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        message = f"gains must have shape (candidates, {len(names)}) ({few}), got {np.shape(gains)}"
        raise ValueError(message)
    if not np.isfinite(theta).all():
        row = int(np.argwhere(~np.isfinite(theta))[0][0])
        message = f"gains must be finite, got {theta[row].tolist()} in row {row}"
        raise ValueError(message)
    return np.ascontiguousarray(theta)
