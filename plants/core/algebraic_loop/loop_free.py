"""Loop-free: the acceleration is integrated, and differentiated again where the equations ask for it.

The equations are evaluated once a stage and never iterated: what they need of the accelerations is rebuilt from
the velocities' difference over the step before. This is the fixed-point iteration a <- (1 - s) a + s f(a) with
one round a step, where s is the form's share of the new difference. It dies out where the spectral radius of
(1 - s) I + s G is below 1, G = df/da; a smaller step does not help. Its error is of first order in h under any
integrator, and it damps or feeds the plant's modes (:func:`plants.core.algebraic_loop.gain.spurious_damping`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.accelerations import accelerations, layout
from plants.core.elementary import where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.kernel.lanes import Lane, WorkspaceRows
    from plants.core.plant import Plant

SHARES = {"loop_free": 1.0, "loop_free_relaxed": 0.5, "loop_free_filtered": 0.1}
"""Share of the new difference in the rebuilt acceleration: raw, relaxed, and filtered with a time constant of 10 steps.

Loops of one real negative gain -rho die out below rho = 2 / share - 1: 1, 3 and 19.
"""


def loop_delay(mode: str, step: float) -> float:
    """Return the time by which a loop-free form feeds accelerations back late [s]: h / share."""
    return step / SHARES[mode]


class LoopFree:
    """Rows and derivative of a loop-free form.

    Parameters
    ----------
    plant : Plant
    mode : str
        A name of :data:`SHARES`.
    """

    def __init__(self, plant: Plant, mode: str) -> None:
        self.plant, self.share, self.places = plant, SHARES[mode], layout(plant)
        self.n = self.places.n

    def add_rows(self, rows: WorkspaceRows) -> None:
        """Give the form its memory."""
        rows.add("velocity_before", self.n)
        rows.add("acceleration", self.n)

    def start(self, x: Sequence[float]) -> dict[str, tuple[float, ...]]:
        """Return initial rows: the velocity that the first difference is taken from.

        The acceleration rebuilt in the first step is then 0. From a velocity of 0 it would be v / h, an error that no
        smaller step mends.
        """
        return {"velocity_before": self.places.of(x)}

    def rebuilt(self, lane: Lane, h: Any) -> tuple[Any, ...]:
        """Return the accelerations of this step, from the velocities' difference over the one before."""
        x, before, old = lane["x"], lane["velocity_before"], lane["acceleration"]
        per_step = 1.0 / h  # one division for all lanes
        rebuilt = tuple((v - v0) * per_step for v, v0 in zip(self.places.of(x), before, strict=True))
        if self.share < 1.0:
            rebuilt = tuple(a0 + (a - a0) * self.share for a, a0 in zip(rebuilt, old, strict=True))
        return rebuilt

    def jump(self, lane: Lane, moved: Sequence[Any], new: Sequence[Any], kept: Any) -> None:
        """Take what `after_step` did to the velocities out of the next difference, where `kept` is not 0.

        The velocity remembered jumps with the present one, so the next difference is that of the step's own motion. To
        remember the new velocity instead would rebuild an acceleration of 0 after every projection.
        """
        pairs = zip(lane["velocity_before"], self.places.of(moved), self.places.of(new), strict=True)
        lane["velocity_before"] = tuple(where(kept, v0 + (b - a), v0) for v0, a, b in pairs)

    def derivative(self, lane: Lane, h: Any) -> Callable[..., tuple[Any, ...]]:
        """Return the derivative of this step, and remember what the next one needs."""
        rebuilt = self.rebuilt(lane, h)
        lane["velocity_before"], lane["acceleration"] = self.places.of(lane["x"]), rebuilt

        def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
            return self.places.rates(accelerations(self.plant, t, x, rebuilt, u, w, p), t, x, u, w, p)

        return derivative
