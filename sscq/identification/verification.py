"""A log of the loop with its new gains: whether the ensemble still explains it, and what the gains did.

found = verify(stored, log)
found.surprise          # chance that a plant of the ensemble gives a log so far from its predictions
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from plants.identification.likelihood import log_likelihoods
from plants.identification.slow_filter import filtered
from sscq.identification.residuals import residual_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.identification.reading.log import Log
    from sscq.identification.stored import StoredEnsemble

    Array = NDArray[np.float64]

_UNLIKELY = 0.01
_SPIKE = 16.0
_SAME_STEP = 1e-3  # of the step
_PORTMANTEAU = 60.0


@dataclass(frozen=True)
class Verification:
    """What a later log says of an ensemble.

    Attributes
    ----------
    surprise : float
        Chance of innovations as large as these, for the member that explains the log best.
    portmanteau : float
        Ljung and Box's statistic of them.
    rows : int
    error, travel : float
        Mean magnitude of the control error [y], and of the output's move from row to row [u].
    """

    surprise: float
    portmanteau: float
    rows: int
    error: float
    travel: float

    @property
    def explained(self) -> bool:
        """Whether the ensemble still explains the loop."""
        return self.surprise > _UNLIKELY and self.portmanteau < _PORTMANTEAU


def verify(stored: StoredEnsemble, log: Log) -> Verification:
    """Return what a later log says.

    Raises
    ------
    ValueError
        If its rows are not as far apart as those of the ensemble.
    """
    several = round(stored.step / log.step)
    if several > 1:
        log = log.averaged(-(-len(log) // several))
    if log.instants is None and abs(log.step / stored.step - 1.0) > _SAME_STEP:
        raise ValueError(
            f"rows of {log.name} are {log.step:g} s apart, those of the ensemble {stored.step:g} s: log with the same "
            "period"
        )
    records = log.records()
    values = [log_likelihoods(group.structure, records, group.parameters, stored.sense) for group in stored.members]
    best = max(range(len(values)), key=lambda k: float(values[k].max()))
    group = stored.members[best]
    member = group.parameters[int(values[best].argmax())]
    seen = [filtered(group.structure, record, member, stored.sense) for record in records]
    # Those beyond four deviations count as four: the filter expects spikes.
    squares = np.minimum(np.concatenate([(one.innovation**2 / one.variance)[3:] for one in seen]), _SPIKE)
    squares = squares[np.isfinite(squares)]
    error = np.abs(log.set_point - log.measured)
    return Verification(
        float(stats.chi2.sf(squares.sum(), len(squares))),
        residual_test(seen).portmanteau,
        len(squares),
        float(np.nanmean(error)),
        float(np.abs(np.diff(log.output)).mean()),
    )
