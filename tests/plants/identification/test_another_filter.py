"""The filter against another program's: statsmodels' Kalman filter is given the same model in its own words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import expm

from benchmarks.engine.log_filter import by_statsmodels
from plants.identification.oscillating import OSCILLATING
from plants.identification.record import LoopRecord
from plants.identification.row import PER_CENT, curved
from plants.identification.slow_filter import VAGUE, filtered
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
        agrees(structure, some, parameters, by_statsmodels(structure, some, parameters).filter())


def agrees(structure, log, parameters, found):
    own = filtered(structure, log, parameters)
    innovation, variance = found.forecasts_error[0], found.forecasts_error_cov[0, 0]
    known = log.measured
    np.testing.assert_allclose(own.variance[known], variance[known], rtol=1e-9)
    room = 1e-9 * np.sqrt(variance[known]).max() + 1e-9 * np.abs(innovation[known]).max()
    np.testing.assert_allclose(own.innovation[known], innovation[known], atol=room)


@pytest.mark.parametrize("structure", PRIORS)
def test_rows_that_come_irregularly_are_those_of_another_program(structure):
    """Its matrices of every row are made here, by matrix exponentials between all instants at which anything changes."""
    log, rng = record([5, 30, 31, 32, 90]), np.random.default_rng(4)
    apart = rng.uniform(0.2, 1.8, N)
    apart[60] = 9.0
    uneven = LoopRecord(log.output, log.input, 1.0, np.cumsum(apart))
    prior = PRIORS[structure](LoopScales.of([log]))
    plants = prior.parameters(prior.draws(25, rng))
    if structure is TWO_LAGS:  # equal lags are taken for ones 3e-6 apart: here they are a thousandth apart
        equal = np.abs(plants[:, 1] * plants[:, 2] - 1.0) < 1e-6
        plants[equal, 1] *= 1.001
    for parameters in plants:
        agrees(structure, uneven, parameters, row_by_row(structure, uneven, parameters).filter())


def row_by_row(structure, log, parameters):
    """statsmodels' filter of rows that last as long as they do."""
    kalman = pytest.importorskip("statsmodels.tsa.statespace.kalman_filter")
    given = dict(zip(structure.parameters, parameters.tolist(), strict=True))
    matrix, push = structure.equations(parameters)
    begins, ends = log.times, np.append(log.times[1:], log.times[-1] + log.step)
    inputs = curved(log.input - log.origin[1], given["curve"])
    acts = log.times + given["dead_time"]

    def over(h):
        """State and held v after h seconds: (x, y, v)."""
        return expm(h * np.block([[matrix, push[:, None]], [np.zeros((1, 3))]]))

    transition, noise, intercept = np.zeros((4, 4, N)), np.zeros((4, 4, N)), np.zeros((4, N))
    for k in range(N):
        h = ends[k] - begins[k]
        whole, fading = over(h), np.exp(-h / given["load_time"])
        transition[:2, :2, k], transition[2, 2, k], transition[3, 3, k] = whole[:2, :2], 1.0, fading
        transition[:2, 2, k] = transition[:2, 3, k] = whole[:2, 2]
        noise[2, 2, k], noise[3, 3, k] = given["walk"] ** 2 * h, given["load"] ** 2 * (1.0 - fading**2)
        state = np.zeros(2)
        for a, b in pairwise([begins[k], *sorted(t for t in acts if begins[k] < t < ends[k]), ends[k]]):
            acting = inputs[max(int(np.count_nonzero(acts <= 0.5 * (a + b))) - 1, 0)]
            state = (over(b - a) @ [*state, acting])[:2]
        intercept[:2, k] = state
    model = kalman.KalmanFilter(k_endog=1, k_states=4)
    model.bind((log.output - log.origin[0])[None])
    model["design"], model["selection"] = np.array([[0.0, 1.0, 0.0, 0.0]]), np.eye(4)
    model["transition"], model["state_cov"], model["state_intercept"] = transition, noise, intercept
    model["obs_cov"] = np.array([[given["noise"] ** 2]])
    begun = structure.start(parameters[None], PER_CENT)
    start = np.diag([begun.variance[0], 4.0 * given["noise"] ** 2 + 1.0, VAGUE, given["load"] ** 2])
    start[0, 2] = start[2, 0] = begun.shared[0]
    first = (log.output - log.origin[0])[log.measured][0]
    model.initialize_known(np.array([begun.share[0] * inputs[0], first, 0.0, 0.0]), start)
    return model
