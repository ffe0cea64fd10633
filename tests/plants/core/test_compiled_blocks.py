"""Compiled lane loops give the numbers of the block they were printed from."""

import random

import numpy as np
import pytest

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, floor, maximum, minimum, sign, where
from plants.core.tracing.trace import trace
from tests.reference import expressions
from tests.reference.rounding import spread

SEED = 177
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5]


@pytest.fixture(scope="module")
def forest(compiled):
    """Random expressions over all elementary functions in one kernel, with the block's program and the trees."""
    rng = random.Random(SEED)
    trees = [expressions.grow(rng, 4) for _ in range(28)]
    used = {name for tree in trees for name in names_in(tree)}
    assert used == set(expressions.FUNCTIONS)  # nothing is left out
    block = expressions.block(*trees)
    return compiled(block, 3, len(trees)), trace(block, "a", "b", "c"), trees


def names_in(tree):
    if isinstance(tree, tuple):
        yield tree[0]
        for part in tree[1:]:
            yield from names_in(part)


def test_compiled_expressions_agree_with_plain_python(forest):
    kernel, program, _ = forest
    points = np.random.default_rng(3).uniform(-3.0, 3.0, (3, 400))
    ours = kernel(*points)
    plain = np.array([program(*point) for point in points.T]).T
    # Elementary kernels are within 2 ulp and fused operations round once less; 4 ulp per operation cover both. The
    # factor is for the spread's being a maximum of a few trials, 4e-16 for results that no operation moves.
    tolerance = 8.0 * spread(program, list(points)) + 4e-16 * np.abs(plain)
    usable = np.isfinite(tolerance)
    assert usable.mean() > 0.8
    gap = np.abs(ours - plain)
    assert np.all(gap[usable] <= tolerance[usable])
    assert np.median(gap[usable]) < 1e-15  # and the tolerance is not what makes them agree


def test_neighbours_in_a_kernel_do_not_change_bits(forest, compiled):
    kernel, _, trees = forest
    few = compiled(expressions.block(*trees[:12:2]), 3, 6)
    points = np.random.default_rng(3).uniform(-3.0, 3.0, (3, 64))
    np.testing.assert_array_equal(few(*points), kernel(*points)[:12:2])


def selects(a, b, c):
    return where(a, b, c), minimum(a, b), maximum(a, b), clip(a, b, c), sign(a), floor(a), magnitude(a)


@pytest.fixture(scope="module")
def compiled_selects(compiled):
    return compiled(selects, 3, 7)


def test_nan_infinity_and_signed_zero_are_treated_alike_everywhere(compiled_selects):
    points = np.array(np.meshgrid(SPECIAL, SPECIAL, SPECIAL)).reshape(3, -1)
    plain = np.array([selects(*map(float, point)) for point in points.T]).T
    for other in (np.array(selects(*points)), compiled_selects(*points)):
        np.testing.assert_array_equal(other, plain)
    program = trace(selects, "a", "b", "c")
    np.testing.assert_array_equal(np.array([program(*point) for point in points.T]).T, plain)


def test_selects_decide_for_their_last_argument_where_something_is_nan():
    nan = float("nan")
    assert where(nan, 1.0, 2.0) == 2.0
    assert minimum(nan, 2.0) == 2.0
    assert maximum(nan, 2.0) == 2.0
    assert np.isnan(minimum(2.0, nan))
    assert np.isnan(maximum(2.0, nan))
    assert clip(nan, -1.0, 1.0) == -1.0
    assert where(0.0, 1.0, 2.0) == 2.0  # only above 0
