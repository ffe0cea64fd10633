"""The filter against another program's: statsmodels' Kalman filter is given the same model in its own words."""

from __future__ import annotations

import numpy as np
import pytest

from plants.identification.oscillating import OSCILLATING
from plants.identification.record import LoopRecord
from plants.identification.row import PER_CENT, Row, curved
from plants.identification.slow_filter import filtered
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.prior import LoopScales, OscillatingPrior, TwoLagsPrior
from tests.plants.identification.reference_logs import R1

kalman_filter = pytest.importorskip("statsmodels.tsa.statespace.kalman_filter")

N = 120
PRIORS = {TWO_LAGS: TwoLagsPrior, OSCILLATING: OscillatingPrior}


def record(gaps):
    _, y, u = R1.run()
    y = y[:N].copy()
    y[gaps] = np.nan
    return LoopRecord(y, u[:N], 1.0)


def other(structure, log, parameters):
    """Innovations and their variances [n] from statsmodels."""
    row = Row.of(structure, parameters[None], log.step)
    given = dict(zip(structure.parameters, parameters.tolist(), strict=True))
    filter_ = kalman_filter.KalmanFilter(k_endog=1, k_states=4)
    filter_.bind((log.output - log.origin[0])[None])
    transition = np.eye(4)
    transition[:2, :2], transition[3, 3] = row.whole.states[0], row.fading[0]
    transition[:2, 2] = transition[:2, 3] = row.whole.input[0]
    filter_["design"], filter_["transition"], filter_["selection"] = (
        np.array([[0.0, 1.0, 0.0, 0.0]]),
        transition,
        np.eye(4),
    )
    filter_["obs_cov"] = np.array([[given["noise"] ** 2]])
    filter_["state_cov"] = np.diag(
        [0.0, 0.0, given["walk"] ** 2 * log.step, given["load"] ** 2 * (1.0 - row.fading[0] ** 2)]
    )
    acting = curved(log.input - log.origin[1], given["curve"])
    late = int(row.rows[0])
    before, after = (acting[np.maximum(np.arange(N) - late - more, 0)] for more in (1, 0))
    intercept = np.zeros((4, N))
    intercept[:2] = np.outer(row.before[0], before) + np.outer(row.after[0], after)
    filter_["state_intercept"] = intercept
    begun = structure.start(parameters[None], PER_CENT)
    covariance = np.diag([begun.variance[0], 4.0 * given["noise"] ** 2 + 1.0, 1e4, given["load"] ** 2])
    covariance[0, 2] = covariance[2, 0] = begun.shared[0]
    first = (log.output - log.origin[0])[log.measured][0]
    filter_.initialize_known(np.array([begun.share[0] * acting[0], first, 0.0, 0.0]), covariance)
    found = filter_.filter()
    return found.forecasts_error[0], found.forecasts_error_cov[0, 0]


@pytest.mark.parametrize("structure", PRIORS)
def test_innovations_and_variances_are_those_of_another_program(structure):
    """Of fifty plants in all, with and without gaps; relative to a row's deviation and variance."""
    log = record(slice(0, 0))
    prior = PRIORS[structure](LoopScales.of([log]))
    plants = prior.parameters(prior.draws(25, np.random.default_rng(1)))
    for number, parameters in enumerate(plants):
        some = record([5, 30, 31, 32, 90] if number % 2 else slice(0, 0))
        own = filtered(structure, some, parameters)
        innovation, variance = other(structure, some, parameters)
        known = some.measured
        np.testing.assert_allclose(own.variance[known], variance[known], rtol=1e-9)
        room = 1e-9 * np.sqrt(variance[known]).max() + 1e-9 * np.abs(innovation[known]).max()
        np.testing.assert_allclose(own.innovation[known], innovation[known], atol=room)
