"""The filter against another program's: statsmodels' Kalman filter is given the same model in its own words."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.engine.log_filter import by_statsmodels
from plants.identification.oscillating import OSCILLATING
from plants.identification.record import LoopRecord
from plants.identification.slow_filter import filtered
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.prior import LoopScales, OscillatingPrior, TwoLagsPrior
from tests.plants.identification.reference_logs import R1

pytest.importorskip("statsmodels")

N = 120
PRIORS = {TWO_LAGS: TwoLagsPrior, OSCILLATING: OscillatingPrior}


def record(gaps):
    _, y, u = R1.run()
    y = y[:N].copy()
    y[gaps] = np.nan
    return LoopRecord(y, u[:N], 1.0)


@pytest.mark.parametrize("structure", PRIORS)
def test_innovations_and_variances_are_those_of_another_program(structure):
    """Of fifty plants in all, with and without gaps; relative to a row's deviation and variance."""
    log = record(slice(0, 0))
    prior = PRIORS[structure](LoopScales.of([log]))
    plants = prior.parameters(prior.draws(25, np.random.default_rng(1)))
    for number, parameters in enumerate(plants):
        some = record([5, 30, 31, 32, 90] if number % 2 else slice(0, 0))
        own = filtered(structure, some, parameters)
        found = by_statsmodels(structure, some, parameters).filter()
        innovation, variance = found.forecasts_error[0], found.forecasts_error_cov[0, 0]
        known = some.measured
        np.testing.assert_allclose(own.variance[known], variance[known], rtol=1e-9)
        room = 1e-9 * np.sqrt(variance[known]).max() + 1e-9 * np.abs(innovation[known]).max()
        np.testing.assert_allclose(own.innovation[known], innovation[known], atol=room)
