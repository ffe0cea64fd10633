"""A candidate that breaks margins in a few cases, moved back inside them along the slope of the violation alone.

No loop is simulated. A step goes as far as a violation that were linear would end, so that little else moves: of a
schedule the gains that rule where the margins break, in the direction in which they break.

The step is that of B. T. Polyak, Minimization of unsmooth functionals (1969).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sscq.baselines.candidates import Candidate
    from sscq.margins.scheduled_gains import ScheduleConstraint

STEPS = 60

_LONGEST = 0.05  # of the genes' box, that a step goes
_FURTHER = 1.2  # times as far as a linear violation needs: of a curved one the last step ends, too
_NUDGE = 1e-6  # of the genes' box


def moved_back(candidate: Candidate, margins: ScheduleConstraint, steps: int = STEPS) -> np.ndarray:
    """Return the parameters [n_theta] that keep margins, as a search sees them, near a candidate's first start.

    Parameters
    ----------
    candidate : Candidate
    margins : ScheduleConstraint
    steps : int
        So many at most; what is reached by then is returned.
    """
    genes, width = candidate.start[0], candidate.high - candidate.low
    for _ in range(steps):
        theta = _decoded(candidate, genes)
        violation = float(margins.violation_of(candidate.controller, theta)[0])
        steepness = width * _slopes(candidate, margins, genes, theta) if violation > 0.0 else np.zeros(len(genes))
        if not steepness.any():
            break
        step = -_FURTHER * violation * steepness / float(steepness @ steepness)
        step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        genes = np.clip(genes + width * step, candidate.low, candidate.high)
    return _decoded(candidate, genes)[0]


def _decoded(candidate: Candidate, genes: np.ndarray) -> np.ndarray:
    rows = np.atleast_2d(genes)
    return rows if candidate.decode is None else candidate.decode(rows)


def _slopes(candidate: Candidate, margins: ScheduleConstraint, genes: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Slopes of the violation [n_genes]; a gene at the end of its range is nudged inwards."""
    nudges = _NUDGE * (candidate.high - candidate.low)
    nudges = np.where(genes + nudges > candidate.high, -nudges, nudges)
    ahead = _decoded(candidate, genes + np.diag(nudges))
    return np.asarray(margins.violation_slopes(candidate.controller, theta, ahead[None], nudges[None])[0])
