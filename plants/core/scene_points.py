"""Where the bodies of a scene are along a run: the author's functions, called and held to their shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.presentation import KINDS

if TYPE_CHECKING:
    from plants.core.motion.trajectory import Trajectory
    from plants.core.plant import Plant
    from plants.core.presentation import Block, Body, View

Columns = tuple[np.ndarray, ...]


class SceneError(ValueError):
    """A function of a scene gives something that cannot be drawn."""


@dataclass(frozen=True)
class RecordedRun:
    """A run as the functions of a scene take it: `t` [n], columns [n] of `x`, `u` and `w`, parameters `p`."""

    t: np.ndarray
    x: Columns
    u: Columns
    w: Columns
    p: tuple[float, ...]

    @classmethod
    def of(cls, plant: Plant, run: Trajectory, p: tuple[float, ...], rows: Any = slice(None)) -> RecordedRun:
        """Return the samples `rows` of a record; inputs or disturbances that it does not hold count as 0."""
        time = run.time[rows]

        def columns(group: str) -> Columns:
            if group not in run.groups:
                return tuple(np.zeros(len(time)) for _ in getattr(plant, group))
            return tuple(run.group(group)[rows].T)

        return cls(time, columns("states"), columns("inputs"), columns("disturbances"), tuple(p))

    def call(self, block: Block) -> Any:
        """Return what a function of the scene gives."""
        return block(self.t, self.x, self.u, self.w, self.p)


def body_points(body: Body, course: RecordedRun, what: str = "") -> np.ndarray:
    """Return the points of a body [n, k, 2] along a run.

    Raises
    ------
    SceneError
        For another shape, another number of points than the body's kind has, or points that are not finite.
    """
    what = what or f"body {body.name or body.kind!r}"
    given = course.call(body.points) if callable(body.points) else body.points
    found = _stacked(given, len(course.t), f"points of {what}")
    fewest, most = KINDS[body.kind]
    count = found.shape[1]
    if count < fewest or (most is not None and count > most):
        wanted = f"{fewest}" if most == fewest else f"at least {fewest}"
        raise SceneError(f"points of {what}: a {body.kind} has {wanted} points, got {count}; give pairs (across, up)")
    return found


def view_points(view: View, course: RecordedRun) -> np.ndarray:
    """Return the point that a view follows [n, 2]; 0 where it follows none."""
    if view.follow is None:
        return np.zeros((len(course.t), 2))
    pair = course.call(view.follow)
    return _stacked((pair,) if not isinstance(pair, np.ndarray) else pair[:, None], len(course.t), "follow")[:, 0]


def body_level(body: Body, course: RecordedRun) -> np.ndarray:
    """Return the numbers that colour a body [n], from 0 at its lowest level to 1 at its highest."""
    assert body.level is not None  # noqa: S101  (for the type checker: asked of bodies with a level only)
    try:
        values = np.broadcast_to(np.asarray(course.call(body.level), dtype=float), course.t.shape)
    except (TypeError, ValueError) as error:
        raise SceneError(
            f"level of body {body.name or body.kind!r} must give numbers [{len(course.t)}]: {error}"
        ) from None
    low, high = body.levels
    return np.asarray(np.clip((values - low) / (high - low), 0.0, 1.0))


def _stacked(given: Any, n: int, what: str) -> np.ndarray:
    """Return pairs of numbers or arrays [n], or an array [n, k, 2], as an array [n, k, 2] of finite numbers."""
    try:
        found = given if isinstance(given, np.ndarray) else _of_pairs(given, n)
    except (TypeError, ValueError) as error:
        raise SceneError(
            f"{what} must be pairs (across, up) of numbers or arrays [{n}], or one array [{n}, k, 2]: {error}"
        ) from None
    if found.ndim != 3 or found.shape[0] != n or found.shape[2] != 2:
        raise SceneError(f"{what} must be an array [{n}, k, 2] or a sequence of pairs, got shape {found.shape}")
    if not np.isfinite(found).all():
        row = int(np.argwhere(~np.isfinite(found))[0][0])
        raise SceneError(f"{what} must be finite, got {found[row].tolist()} in sample {row}: guard roots and quotients")
    return np.asarray(found, dtype=float)


def _of_pairs(given: Any, n: int) -> np.ndarray:
    points = []
    for pair in given:
        across, up = pair
        points.append(np.stack([np.broadcast_to(np.asarray(c, dtype=float), (n,)) for c in (across, up)], axis=1))
    if not points:
        raise ValueError("there is none")
    return np.stack(points, axis=1)
