"""The bound on the failure probability: known values, an independent formula, and the coverage that it claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import sscq


def test_known_values():
    """The method's own number, and the table of 95 % upper limits (one-sided) for n = 10."""
    assert sscq.failure_bound(299, 0, 0.95) <= 0.01 < sscq.failure_bound(298, 0, 0.95)
    assert sscq.failure_bound(299, 0, 0.95) == pytest.approx(1.0 - 0.05 ** (1.0 / 299), rel=1e-13)
    for k, bound in ((0, 0.2589), (1, 0.3942), (2, 0.5069), (9, 0.9949), (10, 1.0)):
        assert sscq.failure_bound(10, k, 0.95) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 5000), st.floats(0.0, 1.0), st.floats(0.01, 0.999))
def test_it_is_the_quantile_of_the_beta_density(n, share, confidence):
    k = min(int(share * n), n - 1)
    # Both are iterations for the same number, which are held to some 1e-12.
    assert sscq.failure_bound(n, k, confidence) == pytest.approx(beta.ppf(confidence, k + 1, n - k), rel=1e-9)


def test_the_bound_is_where_so_few_failures_become_improbable():
    """By definition: P(at most k failures | bound) = 1 - confidence; the binomial law is another implementation."""
    for n, k, confidence in ((20, 3, 0.9), (299, 0, 0.95), (2000, 17, 0.99)):
        assert binom.cdf(k, n, sscq.failure_bound(n, k, confidence)) == pytest.approx(1.0 - confidence, rel=1e-9)


def test_the_coverage_is_at_least_the_confidence_for_every_probability():
    """Summed exactly over all outcomes, so that no chance is left in the test."""
    n, confidence = 60, 0.9
    bounds = np.array([sscq.failure_bound(n, k, confidence) for k in range(n + 1)])
    coverage = [binom.pmf(np.arange(n + 1), n, p)[bounds >= p].sum() for p in np.linspace(0.001, 0.999, 400)]
    assert min(coverage) >= confidence - 1e-12
    assert min(coverage) < confidence + 0.01  # it is not careful beyond what whole numbers of failures ask for


def test_the_coverage_in_simulation():
    """10 000 certificates at 95 %: at least 9 419 hold.

    At a coverage of exactly 95 % the count has the standard deviation 21.8, and 81 is 3.72 of them: by chance the test
    fails a correct bound with probability 1e-4 (and always or never, as the seed is fixed).
    """
    n, p = 150, 0.013
    failures = np.random.default_rng(0).binomial(n, p, 10_000)
    bounds = np.array([sscq.failure_bound(n, k, 0.95) for k in range(n + 1)])
    held = int((bounds[failures] >= p).sum())
    assert held >= 9_500 - 81


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0), "n must be an integer >= 1"),
        ((10, 11), "k must be an integer from 0 to n = 10"),
        ((10, -1), "k must be an integer"),
        ((10.0, 1), "n must be an integer"),
        ((10, 1, 1.0), "confidence must lie between 0 and 1, got 1.0"),
    ],
)
def test_what_is_no_count_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sscq.failure_bound(*arguments)
