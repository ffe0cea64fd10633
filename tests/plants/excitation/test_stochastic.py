"""Stochastic integrators: strong order on nested Brownian paths, weak order from the schemes' own moments.

Orders are slopes over four halvings of the step, of errors in closed form where the schemes are linear; the bound of
0.15 is for the next power of the step.
"""

import math

import numpy as np
import pytest

from benchmarks.accuracy import known_solutions as known
from benchmarks.accuracy.known_solutions import COUNTS, MU, SIGMA, ends, geometric, moments, ornstein
from plants.core.elementary import sin
from plants.core.tracing.tape import Tape
from plants.excitation.stochastic import euler_maruyama, milstein, stochastic_heun

SCHEMES = (euler_maruyama, milstein, stochastic_heun)
PATHS = 4000


@pytest.fixture(scope="module")
def increments():
    return known.increments(PATHS)


def order(errors):
    return -np.polyfit(np.log(COUNTS), np.log(errors), 1)[0]


@pytest.mark.parametrize(("scheme", "expected"), [(euler_maruyama, 0.5), (milstein, 1.0), (stochastic_heun, 1.0)])
def test_strong_order_on_geometric_brownian_motion(scheme, expected):
    errors = [known.geometric_strong_error(geometric(scheme), n) for n in COUNTS]
    assert order(errors) == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_strong_error_in_closed_form_is_that_of_nested_paths(increments, scheme):
    """Within 5 standard errors of the mean square (measured at most 1.6), at each of the steps."""
    drift = (known.MU - 0.5 * known.SIGMA**2) * known.T_END
    exact = np.exp(drift + known.SIGMA * increments.sum(axis=0))
    for n in COUNTS:
        squares = (ends(geometric(scheme), increments, n) - exact) ** 2
        expected = known.geometric_strong_error(geometric(scheme), n) ** 2
        assert abs(squares.mean() - expected) < 5.0 * squares.std() / math.sqrt(PATHS)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_strong_order_on_additive_noise_is_one(increments, scheme):
    """On the same paths; errors are Gaussian, so 4000 paths know each within 1.1 % and the slope, whose ends share their
    paths, within 0.006 (the standard error of eight batches)."""
    exact = known.ornstein_ends(increments)
    errors = [np.sqrt(np.mean((ends(ornstein(scheme), increments, n) - exact) ** 2)) for n in COUNTS]
    assert order(errors) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weak_order_on_geometric_brownian_motion_is_one(scheme):
    errors = np.abs([moments(geometric(scheme), n) - known.geometric_moments() for n in COUNTS])
    assert order(errors[:, 0]) == pytest.approx(1.0, abs=0.15)
    assert order(errors[:, 1]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("scheme", "expected"), [(euler_maruyama, 1.0), (milstein, 1.0), (stochastic_heun, 2.0)])
def test_weak_order_on_additive_noise(scheme, expected):
    errors = np.abs([moments(ornstein(scheme), n) - known.ornstein_moments() for n in COUNTS])
    assert order(errors[:, 0]) == pytest.approx(expected, abs=0.15)
    assert order(errors[:, 1]) == pytest.approx(expected, abs=0.15)


def test_the_calculus_matters():
    """With the same drift, Heun's mean is that of the Stratonovich equation: larger by exp(sigma^2 t / 2)."""
    ito, stratonovich = (moments(geometric(scheme, MU), 128)[0] for scheme in (euler_maruyama, stochastic_heun))
    assert stratonovich / ito == pytest.approx(math.exp(0.5 * SIGMA**2), rel=0.005)  # both have first-order errors


def test_the_schemes_are_blocks():
    """They run on traced numbers as on floats: several states, one process that drives two of them."""
    tape = Tape()
    x, y, w = (tape.input(name) for name in "xyw")
    a, b = (lambda t, x: (x[1], -sin(x[0]))), (lambda t, x: (0.0, x[0]))
    for scheme in (euler_maruyama, stochastic_heun):
        assert len(scheme(a, b, 0.0, (x, y), 0.1, (w, w))) == 2
    assert euler_maruyama(a, b, 0.0, (1.0, 2.0), 0.1, (0.0, 0.5)) == (1.2, 2.0 - 0.1 * math.sin(1.0) + 0.5)
