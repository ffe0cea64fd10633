"""From a finished run's workspace to the report on its algebraic loop, its error and its warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.gain import EvaluationPoints
from plants.core.algebraic_loop.iteration import TOLERANCE
from plants.core.algebraic_loop.loop_free import SHARES
from plants.core.algebraic_loop.report import Iterations, LoopReport, state_in_words
from plants.core.motion.trajectory import DivergedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.kernel.lanes import WorkspaceRows
    from plants.core.motion.step import Motion
    from plants.core.motion.trajectory import Trajectory

    Array = NDArray[np.float64]


class AlgebraicLoopError(DivergedError):
    """An iteration did not converge, or a raw loop-free run met a gain of 1: what it would give is no motion."""


class LoopGainWarning(UserWarning):
    """A loop-free run met a gain of the algebraic loop beyond what its form bears; relaxed: beyond the raw form's."""


def loop_report(
    motion: Motion, rows: WorkspaceRows, final: Array, step: float, points: EvaluationPoints
) -> tuple[int, LoopReport | None]:
    """Return the evaluations of a run and the report on its algebraic loop.

    Parameters
    ----------
    final : ndarray [rows]
        The run's workspace at its end, all rows kept.
    points : EvaluationPoints
        Where the run has been: arrays [.., n + 1], parameters as numbers.
    """
    stages = motion.stages * int(final[rows.first["steps"]])
    evaluations, iterations = stages, None
    if motion.iterated is not None:
        passes = int(final[rows.first["all_passes"]])
        evaluations = passes * motion.iterated.method.evaluations(motion.iterated.n)
        iterations = Iterations(
            passes / max(1, stages),
            int(final[rows.first["most_passes"]]),
            float(final[rows.first["largest_residual"]]),
            failure=_failure(motion, rows, final, points),
        )
    if not motion.plant.has_loop:
        return evaluations, None
    return evaluations, LoopReport(motion.mode, step, evaluations, iterations, motion.plant, points)


def _failure(motion: Motion, rows: WorkspaceRows, final: Array, points: EvaluationPoints) -> str:
    if final[rows.first["lost"]] == 0.0 or motion.iterated is None:
        return ""
    plant, limit = motion.plant, motion.iterated.method.limit
    residuals = final[rows.span("residual")]
    worst = int(np.argmax(residuals))
    places = motion.iterated.places
    accelerated = f"rate of {plant.states[places.velocities[worst]].name!r}"
    if plant.kinematics is None:
        accelerated = f"acceleration of {plant.states[places.others[worst]].name!r} ({accelerated})"
    fault = (
        f"the equation of the {accelerated} keeps a residual of "
        f"{residuals[worst]:.3g} relative to 1 + |a|, tolerance {TOLERANCE:.0e}"
    )
    if residuals[worst] <= TOLERANCE:
        fault = "its equations give no finite numbers"
    return (
        f"the algebraic loop of plant {plant.name!r} was not solved after {limit} passes ({motion.mode}): {fault}, in "
        f"the step from t = {points.t[-1]:.6g} s at {state_in_words(plant, points.x, -1)}; "
        "use algebraic_loop='solved', or a smaller step"
    )


def points_of(trajectory: Trajectory, parameters: Sequence[float], reached: int) -> EvaluationPoints:
    """Return where a recorded run has been up to the step `reached`."""

    def columns(name: str) -> Any:
        return trajectory.group(name)[: reached + 1].T if name in trajectory.groups else ()

    time = trajectory.time[: reached + 1]
    return EvaluationPoints(time, columns("states"), columns("inputs"), columns("disturbances"), parameters)


def warn_of_gain(report: LoopReport | None, stacklevel: int = 3) -> None:
    """Warn where a loop-free run met a gain that its form does not bear."""
    warn(report.caution() if report is not None else "", stacklevel)


def refuse_raw(report: LoopReport | None) -> None:
    """Raise for a raw loop-free run that met a gain of 1 or more.

    Its error then grows in every step, whatever the step is; that the run stayed in the plant's region says nothing.
    """
    if report is not None and SHARES.get(report.mode) == 1.0 and report.caution():
        raise AlgebraicLoopError(report.caution())


def warn(text: str, stacklevel: int) -> None:
    """Give a warning of the loop's gain, unless there is nothing to say; `stacklevel` as seen by the caller."""
    if text:
        warnings.warn(text, LoopGainWarning, stacklevel=stacklevel + 1)
