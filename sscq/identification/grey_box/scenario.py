"""What a loop of a plant of known equations is judged in: a step and a load like those of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.linearise import linearise
from sscq.identification.promise import LoopScenario, set_point_moves

if TYPE_CHECKING:
    from sscq.identification.grey_box.members import GreyEnsemble
    from sscq.identification.reading.log import Log

_SHORTEST = 120.0  # horizon [s]
_OF_LAGS = 12.0  # horizon over slow lag and twice the dead time
_LOAD_DEVIATIONS, _LEAST_LOAD, _LARGEST_LOAD = 3.0, 0.02, 0.2  # of the estimated load; of the command's span
_USUAL_STEP = 0.1  # of what the output did, where the log has no step of the set point


def grey_scenario(ensemble: GreyEnsemble, log: Log | None = None) -> LoopScenario:
    """Return a scenario like what the log saw, as for plants without equations; its load in units of the command."""
    box, length = ensemble.box, max(record.duration for record in ensemble.records)
    reach = _OF_LAGS * (min(_slowest(ensemble), length / 3.0) + 2.0 * float(np.median(ensemble.column("dead_time"))))
    moves = np.array([]) if log is None else set_point_moves(log, 1e-3 * ensemble.prior.scales.output_range)
    height = float(np.median(moves)) if len(moves) else _USUAL_STEP * ensemble.prior.scales.output_range
    walk, load = (float(np.median(ensemble.column(name))) / box.load_scale for name in ("walk", "load"))
    deviation = float(np.hypot(walk * np.sqrt(min(reach, length)), load))
    span = ensemble.prior.scales.input_span
    size = float(np.clip(_LOAD_DEVIATIONS * deviation, _LEAST_LOAD * span, _LARGEST_LOAD * span))
    return LoopScenario(float(np.clip(reach, _SHORTEST, max(_SHORTEST, length))), height, size)


def _slowest(ensemble: GreyEnsemble) -> float:
    """Longest lag of the middle member where the log begins [s]; infinite where it does not settle."""
    box, record = ensemble.box, ensemble.records[0]
    middle = dict(zip(box.fitted, np.median(ensemble.parameters, axis=0).tolist(), strict=False))
    mean, _ = box.start(record)
    model = linearise(box.plant, mean[:-2].tolist(), middle, input=[record.origin[1]], commands=True)
    slowest = float(model.poles.real[0])
    return -1.0 / slowest if slowest < 0.0 else np.inf
