"""Stochastic integrators: strong order on nested Brownian paths, weak order from the schemes' own moments.

Orders are slopes over four halvings of the step. With 4000 paths the strong error at one step is known within 1 / sqrt(2
* 4000) = 1.1 %; both ends of the fit share their paths, so the slope over a factor of 8 is known well within 0.02. The
bound of 0.15 is for the next power of the step.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from plants.core.elementary import sin
from plants.core.stochastic import euler_maruyama, milstein, stochastic_heun
from plants.core.tape import Tape

PATHS, FINEST, T_END = 4000, 256, 1.0
COUNTS = (16, 32, 64, 128)
MU, SIGMA = 0.5, 0.8  # geometric Brownian motion dx = mu x dt + sigma x dW (Ito), x(0) = 1
RATE, NOISE = 1.5, 0.7  # Ornstein-Uhlenbeck dx = -rate x dt + noise dW


@pytest.fixture(scope="module")
def increments():
    return np.random.default_rng(11).normal(0.0, math.sqrt(T_END / FINEST), (FINEST, PATHS))


def geometric(scheme, drift=MU):
    def a(t, x):
        return (drift * x[0],)

    def b(t, x):
        return (SIGMA * x[0],)

    extra = (lambda t, x: (SIGMA,),) if scheme is milstein else ()
    return lambda x, h, w: scheme(a, b, *extra, 0.0, (x,), h, (w,))[0]


def ornstein(scheme):
    def a(t, x):
        return (-RATE * x[0],)

    def b(t, x):
        return (NOISE,)

    extra = (lambda t, x: (0.0,),) if scheme is milstein else ()
    return lambda x, h, w: scheme(a, b, *extra, 0.0, (x,), h, (w,))[0]


def ends(move, increments, count):
    """Ends of paths of `count` steps over the given finest increments."""
    x = np.ones(PATHS)
    for w in increments.reshape(count, FINEST // count, PATHS).sum(axis=1):
        x = move(x, T_END / count, w)
    return x


def order(errors):
    return -np.polyfit(np.log(COUNTS), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("scheme", "drift", "expected"),
    # Heun converges to the Stratonovich solution: that is given the drift mu - sigma^2 / 2 of the same process.
    [(euler_maruyama, MU, 0.5), (milstein, MU, 1.0), (stochastic_heun, MU - 0.5 * SIGMA**2, 1.0)],
)
def test_strong_order_on_geometric_brownian_motion(increments, scheme, drift, expected):
    exact = np.exp((MU - 0.5 * SIGMA**2) * T_END + SIGMA * increments.sum(axis=0))
    errors = [np.sqrt(np.mean((ends(geometric(scheme, drift), increments, n) - exact) ** 2)) for n in COUNTS]
    assert order(errors) == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize("scheme", [euler_maruyama, milstein, stochastic_heun])
def test_strong_order_on_additive_noise_is_one(increments, scheme):
    """The reference on the same paths: the scheme's own limit, on a path 16 times finer, given by Heun's method."""
    rng = np.random.default_rng(12)
    fine = 16
    # Brownian bridges within the finest increments: nested paths.
    parts = rng.normal(0.0, math.sqrt(T_END / FINEST / fine), (FINEST, fine, PATHS))
    parts += (increments - parts.sum(axis=1))[:, None, :] / fine
    x = np.ones(PATHS)
    h = T_END / FINEST / fine
    for w in parts.reshape(-1, PATHS):  # trapezoidal rule, whose error on this path is 2000 times below the coarsest
        x = ((1.0 - 0.5 * RATE * h) * x + NOISE * w) / (1.0 + 0.5 * RATE * h)
    errors = [np.sqrt(np.mean((ends(ornstein(scheme), increments, n) - x) ** 2)) for n in COUNTS]
    assert order(errors) == pytest.approx(1.0, abs=0.15)


def moments(move, count):
    """Mean and second moment after `count` steps of a linear scheme: exact, by Gauss-Hermite quadrature of one step."""
    h = T_END / count
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    weights = weights / weights.sum()
    w = math.sqrt(h) * nodes
    zero = move(0.0, h, w)  # the step is (A(w) x + B(w)): one moment matrix a step
    one = move(1.0, h, w) - zero
    matrix = np.array(
        [[1.0, 0.0, 0.0], [weights @ zero, weights @ one, 0.0],
         [weights @ zero**2, 2.0 * weights @ (zero * one), weights @ one**2]]
    )  # fmt: skip
    return (np.linalg.matrix_power(matrix, count) @ np.ones(3))[1:]


@pytest.mark.parametrize(
    ("scheme", "drift"), [(euler_maruyama, MU), (milstein, MU), (stochastic_heun, MU - 0.5 * SIGMA**2)]
)
def test_weak_order_on_geometric_brownian_motion_is_one(scheme, drift):
    exact = np.exp([MU * T_END, (2.0 * MU + SIGMA**2) * T_END])
    errors = np.abs([moments(geometric(scheme, drift), n) - exact for n in COUNTS])
    assert order(errors[:, 0]) == pytest.approx(1.0, abs=0.15)
    assert order(errors[:, 1]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("scheme", "expected"), [(euler_maruyama, 1.0), (milstein, 1.0), (stochastic_heun, 2.0)])
def test_weak_order_on_additive_noise(scheme, expected):
    mean = math.exp(-RATE * T_END)
    exact = np.array([mean, mean**2 + NOISE**2 / (2.0 * RATE) * (1.0 - mean**2)])
    errors = np.abs([moments(ornstein(scheme), n) - exact for n in COUNTS])
    assert order(errors[:, 0]) == pytest.approx(expected, abs=0.15)
    assert order(errors[:, 1]) == pytest.approx(expected, abs=0.15)


def test_the_calculus_matters(increments):
    """With the same drift, Heun's mean is that of the Stratonovich equation: larger by exp(sigma^2 t / 2)."""
    ito, stratonovich = (moments(geometric(scheme), 128)[0] for scheme in (euler_maruyama, stochastic_heun))
    assert stratonovich / ito == pytest.approx(math.exp(0.5 * SIGMA**2), rel=0.005)  # both have first-order errors


def test_the_schemes_are_blocks():
    """They run on traced numbers as on floats: several states, one process that drives two of them."""
    tape = Tape()
    x, y, w = (tape.input(name) for name in "xyw")
    a, b = (lambda t, x: (x[1], -sin(x[0]))), (lambda t, x: (0.0, x[0]))
    for scheme in (euler_maruyama, stochastic_heun):
        assert len(scheme(a, b, 0.0, (x, y), 0.1, (w, w))) == 2
    assert euler_maruyama(a, b, 0.0, (1.0, 2.0), 0.1, (0.0, 0.5)) == (1.2, 2.0 - 0.1 * math.sin(1.0) + 0.5)
