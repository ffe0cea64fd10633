"""Consequents by least squares: SciPy as the oracle, what prior and smoothness do, exact recovery."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from flcs import NetworkConfig
from flcs.learning.least_squares import fit_consequents, smoothness, solve

RNG = np.random.default_rng(5)
FREE = NetworkConfig(prior_weight=0.0, smoothness=0.0, ridge=1e-12)


def stacked(a, weight, penalty):
    """The same criterion as rows of an ordinary least-squares problem."""
    return np.vstack([np.sqrt(weight)[:, None] * a, np.linalg.cholesky(penalty).T])


@pytest.mark.parametrize("half_width", [np.inf, 0.3, 0.02])
def test_solution_is_scipy_s(half_width):
    a, y, weight = RNG.uniform(0, 1, (60, 7)), RNG.normal(0.0, 1.0, (60, 3)), RNG.uniform(0, 1, 60)
    penalty = 0.3 * np.eye(7) + 0.1 * smoothness([(i,) for i in range(7)])
    low, high = np.full((7, 3), -half_width), np.full((7, 3), half_width)
    found = solve(a, y, weight, penalty, low, high)
    for k in range(3):
        right = np.concatenate([np.sqrt(weight) * y[:, k], np.zeros(7)])
        oracle = lsq_linear(stacked(a, weight, penalty), right, (-half_width, half_width), tol=1e-14)
        # SciPy's active set stops at a relative 1e-14 of the cost; near a bound that is about 1e-8 of the solution.
        np.testing.assert_allclose(found[:, k], oracle.x, atol=1e-7)


def test_smoothness_is_the_sum_over_neighbours():
    terms = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 2)]
    d = RNG.normal(size=(5, 2))
    expected = sum(
        ((d[i] - d[j]) ** 2).sum()
        for i in range(5)
        for j in range(i)
        if np.abs(np.subtract(terms[i], terms[j])).sum() == 1
    )
    assert d.ravel() @ smoothness(terms, 2) @ d.ravel() == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", ["triangular", "gaussian"])
def test_known_consequents_are_recovered(builders, shape, order):
    kb = builders["kb"](shape, order, seed=2)
    rows = builders["rows"](kb, spread=1.0)
    blank = replace(kb.channels[0], rules=tuple(replace(r, gains=(5.0,) * 3) for r in kb.channels[0].rules))
    found = fit_consequents(kb.with_channel(0, blank), rows, FREE)
    for rule, known in zip(found.channels[0].rules, kb.channels[0].rules, strict=True):
        # With order 1 gains are cut at the box for some rows, which no linear fit reproduces.
        np.testing.assert_allclose(rule.gains, known.gains, atol=1e-6 if order == 0 else 1.5)


def test_without_data_the_reference_gains_stay(builders, kb):
    rows = builders["rows"](kb)
    silent = replace(rows, weight=np.zeros(len(rows.weight)))
    for config in (FREE, NetworkConfig()):
        found = fit_consequents(kb, silent, config)
        np.testing.assert_allclose(
            [r.gains for r in found.channels[0].rules], [kb.channels[0].reference] * 9, atol=1e-14
        )


def test_rules_without_data_stay_near_the_reference(builders, kb):
    rows = builders["rows"](kb)
    left = rows.chosen(rows.inputs[:, 0] < -1.5)
    found = fit_consequents(kb, left, NetworkConfig(smoothness=0.0)).channels[0]
    for rule, known in zip(found.rules, kb.channels[0].rules, strict=True):
        if rule.terms[0] == 0:
            assert np.abs(np.subtract(rule.gains, known.gains)).max() < 1.5
        if rule.terms[0] == 2:
            np.testing.assert_allclose(rule.gains, found.reference, atol=1e-14)


def test_prior_counts_like_rows(builders, kb):
    """Rows right at one rule's centre: their mean and the reference are weighed by their numbers."""
    base = kb.channels[0]
    place = [v.centres[j] for v, j in zip(base.inputs, base.rules[4].terms, strict=True)]
    rows = builders["rows"](kb, n=30)
    rows = replace(rows, inputs=np.tile(place, (30, 1)), gains=np.full((30, 3), 8.0), weight=np.full(30, 0.5))
    found = fit_consequents(kb, rows, NetworkConfig(prior_weight=5.0, smoothness=0.0)).channels[0].rules[4]
    np.testing.assert_allclose(found.gains, (15.0 * 8.0 + 5.0 * np.array(base.reference)) / 20.0, rtol=1e-8)


def test_smoothness_draws_neighbours_together(builders, kb):
    rows = builders["rows"](kb)
    spread = [
        np.std([r.gains for r in fit_consequents(kb, rows, NetworkConfig(smoothness=s)).channels[0].rules], axis=0)
        for s in (0.0, 10.0, 1e4)
    ]
    assert (spread[0] > spread[1]).all()
    assert (spread[1] > spread[2]).all()


def test_consequents_stay_in_the_box(builders, kb):
    rows = builders["rows"](kb)
    beyond = replace(rows, gains=40.0 * rows.gains - 150.0)
    gains = np.array([r.gains for r in fit_consequents(kb, beyond, FREE).channels[0].rules])
    assert gains.min() == 0.0
    assert gains.max() == 10.0


def test_the_box_is_part_of_the_fit(builders, kb):
    """The best consequents within the box are not the best ones of all, cut at the box."""
    rows = builders["rows"](kb)
    beyond = replace(rows, gains=np.clip(3.0 * rows.gains - 10.0, 0.0, 10.0))
    base = kb.channels[0]
    shares = kb.shares(beyond.inputs)
    fitted = np.array([r.gains for r in fit_consequents(kb, beyond, FREE).channels[0].rules])
    cut = np.clip(np.linalg.lstsq(shares, beyond.gains - base.reference)[0] + base.reference, 0.0, 10.0)
    missed = [((shares @ (c - base.reference) + base.reference - beyond.gains) ** 2).sum() for c in (fitted, cut)]
    assert missed[0] < 0.999 * missed[1]


def test_a_fixed_gain_stays_fixed(builders, kb):
    base = kb.channels[0]
    pinned = replace(base, low=(0.0, 0.0, 3.17), high=(10.0, 10.0, 3.17))
    found = fit_consequents(kb.with_channel(0, pinned), builders["rows"](kb), NetworkConfig())
    assert {rule.gains[2] for rule in found.channels[0].rules} == {3.17}
