"""Pictures of a trajectory with matplotlib (extra `plot`), to be printed or shown in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Trajectory = Any  # plants.core.motion.trajectory.Trajectory, which calls what is here

_WIDTH, _HEIGHT = 7.0, 1.7  # inches, of one chart below others


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('pictures need matplotlib: pip install "sscq[plot]"') from None
    return plt


def plot(trajectory: Trajectory, names: Sequence[str] | None = None, axes: Any = None) -> Any:
    """Draw signals over time, those of one unit in one chart; return the axes [n_charts].

    Parameters
    ----------
    names : sequence of str, optional
        Which signals; left out: the states, measurements that are none of them, and inputs.
    axes : sequence of axes, optional
        Of matplotlib, one for each unit; left out, a new figure.
    """
    chosen = list(names) if names is not None else _usual(trajectory)
    places = [_place(trajectory, name) for name in chosen]
    units = list(dict.fromkeys(trajectory.units[k] for k in places))
    if axes is None:
        size = (_WIDTH, 0.6 + _HEIGHT * len(units))
        _, axes = pyplot().subplots(len(units), 1, sharex=True, squeeze=False, figsize=size, layout="constrained")
    charts = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    for unit, chart in zip(units, charts, strict=True):
        for k in places:
            if trajectory.units[k] == unit:
                chart.plot(trajectory.time, trajectory.signals[:, k], label=trajectory.names[k])
        chart.set_ylabel(f"[{unit}]" if unit not in {"", "1"} else "")
        chart.legend(loc="best", frameon=False)
        chart.grid(visible=True, alpha=0.3)
    charts[-1].set_xlabel("time [s]")
    return charts


def phase(trajectory: Trajectory, x: str, y: str, axes: Any = None) -> Any:
    """Draw one signal over another, the start marked; return the axes."""
    if axes is None:
        _, axes = pyplot().subplots(layout="constrained")
    across, up = trajectory[x], trajectory[y]
    axes.plot(across, up)
    axes.plot(across[:1], up[:1], "o", color="black", label="start")
    axes.set_xlabel(_labelled(trajectory, x))
    axes.set_ylabel(_labelled(trajectory, y))
    axes.grid(visible=True, alpha=0.3)
    return axes


def _labelled(trajectory: Trajectory, name: str) -> str:
    unit = trajectory.units[trajectory.names.index(name)]
    return f"{name} [{unit}]" if unit not in {"", "1"} else name


def _usual(trajectory: Trajectory) -> list[str]:
    groups = [trajectory.groups[name] for name in ("states", "outputs", "inputs") if name in trajectory.groups]
    return list(dict.fromkeys(name for part in groups for name in trajectory.names[part]))


def _place(trajectory: Trajectory, name: str) -> int:
    trajectory[name]  # which raises with the near miss
    return int(trajectory.names.index(name))
