"""The box of a search and the unit cube that stands for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.search.box import Box

MIXED = Box(
    low=(0.0, 0.01, -50.0, 3.0, -2.0),
    high=(10.0, 100.0, -0.5, 3.0, 5.0),
    scale=("linear", "log", "log", "linear", "step"),
    names=("kp", "ki", "kd", "fixed", "damper"),
)
POINTS = st.lists(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), min_size=1, max_size=6).map(np.array)


@given(points=POINTS)
def test_decoded_points_lie_in_the_box_with_fixed_and_whole_genes_as_they_must_be(points):
    genomes = MIXED.decode(points)
    assert genomes.flags.c_contiguous
    assert (genomes >= MIXED.low).all()
    assert (genomes <= MIXED.high).all()
    assert (genomes[:, 3] == 3.0).all()
    np.testing.assert_array_equal(genomes[:, 4], np.rint(genomes[:, 4]))


@given(points=POINTS)
def test_encode_undoes_decode(points):
    again = MIXED.encode(MIXED.decode(points))
    np.testing.assert_allclose(again[:, :3], points[:, :3], rtol=0.0, atol=1e-14)  # logarithms of numbers below 100
    np.testing.assert_allclose(again[:, 3], np.rint(points[:, 3] * 7.0) / 7.0, rtol=0.0, atol=1e-15)


def test_corners_of_the_cube_are_exactly_the_bounds():
    odd = Box((0.1, 1e-3), (0.7, 1.1e3), ("linear", "log"))
    np.testing.assert_array_equal(odd.decode(np.array([[0.0, 0.0], [1.0, 1.0]])), [odd.low, odd.high])


def test_a_gene_next_to_its_lower_bound_is_there():
    """Searches that halve a gene again and again end at 1e-300, which no one wants to type."""
    box = Box((0.0, -2.0), (80.0, 2.0))
    near = box.decode(np.array([[1e-302, 1e-15], [1e-13, 1e-13]]))
    np.testing.assert_array_equal(near[0], [0.0, -2.0])
    assert 0.0 < near[1, 0] < 1e-10


def test_log_scale_halves_ratios_for_either_sign_and_keeps_the_order():
    box = Box((0.01, -100.0), (100.0, -0.01), "log")
    np.testing.assert_allclose(box.decode(np.array([[0.5, 0.5], [0.25, 0.25]])), [[1.0, -1.0], [0.1, -10.0]])


def test_genomes_outside_are_clipped():
    np.testing.assert_array_equal(MIXED.clip([-1.0, 1e9, 0.0, 7.0, 2.4]), [[0.0, 100.0, -0.5, 3.0, 2.0]])
    assert MIXED.clip(()).shape == (0, 5)


def test_there_is_one_zero():
    box = Box((-1.0,), (1.0,))
    assert box.clip([[-0.0]]).tobytes() == box.clip([[0.0]]).tobytes() == box.decode(np.array([[0.5]])).tobytes()


def test_neighbours_are_balanced_and_do_not_move_fixed_genes():
    box = Box((0.0,) * 4, (10.0, 10.0, 0.0, 10.0))
    neighbours = box.neighbours((5.0, 5.0, 0.0, 5.0), distance=0.1)
    moves = neighbours - [5.0, 5.0, 0.0, 5.0]
    np.testing.assert_allclose(np.abs(moves), np.tile([1.0, 1.0, 0.0, 1.0], (4, 1)), atol=1e-14)
    np.testing.assert_allclose(moves.T @ moves, np.diag([4.0, 4.0, 0.0, 4.0]), atol=1e-12)  # no two genes together


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((1.0, 5.0), (2.0, 1.0), ("linear",), ("kp", "kd")), "low of gene 'kd' must not exceed its high, got 5.0"),
        (((0.0, np.nan), (1.0, 1.0), ("linear",), ("kp", "kd")), "low of gene 'kd' must be a finite number"),
        (((0.0,), (np.inf,)), "high of gene '0' must be a finite number"),
        (((0.0, 1.0), (1.0,)), r"high must have one entry for each gene \(0, 1\)"),
        (((0.0,), (1.0,), "log"), "gene '0' on a log scale needs bounds of one sign without 0"),
        (((0.0,), (1.0,), "logs"), "did you mean 'log'"),
        (((0.5,), (2.0,), "step"), "step gene '0' needs whole bounds"),
        (((0.0,), (1.0,), ("linear", "log")), "scale must be one word or one for each of the 1 genes"),
        (((0.0, 0.0), (1.0, 1.0), ("linear",), ("kp", "kp")), "names of the genes must be different"),
    ],
)
def test_wrong_boxes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Box(*arguments)


@pytest.mark.parametrize(
    ("genomes", "message"),
    [([[1.0, 2.0]], r"genomes must have shape \[n, 5\] \(kp, "), ([[1.0, 1.0, np.nan, 3.0, 0.0]], "must be finite")],
)
def test_wrong_genomes_are_refused(genomes, message):
    with pytest.raises(ValueError, match=message):
        MIXED.encode(genomes)
