"""Rollouts of the unicycle under its law, in one form and one way to treat its loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.form_runs import STEP, FormRuns
from benchmarks.unicycle_schemes import torques
from plants.core.kernel import LANES
from plants.unicycle import UNICYCLE, loop_forms
from plants.unicycle.declared import mechanism, with_basis
from plants.unicycle.loop_forms import MINIMAL
from plants.unicycle.redundant import N
from plants.unicycle.tasks import start

if TYPE_CHECKING:
    import numpy as np

    from plants.core.lanes import Lane
    from plants.core.plant import Plant

SPEED = 1.5  # m/s
FORMS = ("minimal", "printed", "redundant", "kit")
_PLACES = {"minimal": range(5), "kit": (0, 1, 2, 3, 8), "printed": MINIMAL, "redundant": MINIMAL}
_KEY = ("level ground", 0)


def plant_of(form: str) -> Plant:
    """Return the unicycle in one of `FORMS`; the last is derived by the mechanics kit, with the minimal velocities."""
    return {
        "minimal": lambda: UNICYCLE, "printed": loop_forms.printed, "redundant": loop_forms.redundant,
        "kit": lambda: with_basis(mechanism()).build(),
    }[form]()  # fmt: skip


class UnicycleRuns(FormRuns):
    """Many rollouts side by side, from near upright at 1.5 m/s; they differ by the body's mass, 7 to 9.5 kg."""

    def __init__(self, form: str, mode: str, lanes: int = LANES, step: float = STEP) -> None:
        self.form = form
        super().__init__(plant_of(form), mode, f"unicycle, {form}: rk4, algebraic loop {mode}", {}, _KEY, lanes, step)

    def _minimal(self, x: Any) -> Any:
        if self.form == "minimal":
            return x
        if self.form == "kit":
            return (*(x[k] for k in _PLACES["kit"]), *x[11:16], *x[9:11])
        return loop_forms.minimal_state(x)

    def inputs(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:  # noqa: ARG002  (held over the step)
        """The law's torques."""
        return torques(self._minimal(lane["x"]), SPEED, lane["p"][1])

    def begun(self, x: Any) -> Any:
        """Return a minimal state [12] as one of the form."""
        if self.form == "minimal":
            return x
        nine = loop_forms.redundant_state(x)
        return (*nine[:N], *x[10:12], *x[5:10]) if self.form == "kit" else nine

    def run(self, n: int, n_steps: int) -> np.ndarray:
        """Return the five minimal coordinates at the end [n, 5]."""
        x = self.begun(start(SPEED, 0.005, 0.01))
        return self.rollouts(x, "MB", 7.0, 9.5, n, n_steps)[:, list(_PLACES[self.form])]
