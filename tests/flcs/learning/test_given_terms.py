"""Terms given by hand: these centres and no others, a range inside what the quantity can be, everything else as before."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
from flcs import NetworkConfig, TeachingRows
from flcs.inference.variable import SMALLEST_GAP
from flcs.learning.terms import given_variable
from flcs.learning.variables import variables
from flcs.refinement.direct import direct

VDP = plants.get("van_der_pol")
BOUNDED = replace(VDP, measurements=tuple(replace(q, low=0.0, high=1.0) for q in VDP.measurements))
POSITION = VDP.measurements[0].name
NOISY = np.linspace(-0.1, 0.9, 101)  # the robust range is a tenth wider at both ends: -0.195 .. 0.995 less tails
GIVEN = (0.05, 0.5)


def rows(n=101):
    """One channel's rows in which the gains follow the position."""
    own = np.stack([np.sin(np.arange(n)), np.cos(np.arange(n)), np.zeros(n)], axis=1)
    gains = 1.0 + np.abs(np.stack([NOISY, NOISY, NOISY], axis=1))
    signal = SimpleNamespace(
        situation=np.arange(n) // 34, inputs=np.column_stack([own, NOISY]), gains=gains, weight=np.ones(n),
        input_names=("error", "error_rate", "error_integral", POSITION), gain_names=("kp", "ki", "kd"),
    )  # fmt: skip
    return TeachingRows.of(signal)


def found(plant=VDP, **given):
    config = NetworkConfig(inputs=("e", POSITION), **given)
    return variables(rows(), 0, (0, 1, 2), config, 0, plant=plant).inputs


def test_an_input_has_the_centres_given_and_others_their_own():
    before, after = found(terms=3), found(terms=3, centres={POSITION: GIVEN})
    assert after[0] == before[0]
    assert (after[1].centres, after[1].n_terms, before[1].n_terms) == (GIVEN, 2, 3)
    assert (after[1].low, after[1].high, after[1].unit) == (before[1].low, before[1].high, before[1].unit)


def test_no_centres_change_nothing():
    assert found(terms=3, centres={}) == found(terms=3)


def test_terms_chosen_for_the_others_are_those_of_the_others_alone():
    alone = variables(rows(), 0, (0, 1, 2), NetworkConfig(inputs=("e",), terms=None), 0, plant=VDP).inputs
    both = found(terms=None, centres={POSITION: GIVEN})
    assert (both[0], both[1].centres) == (alone[0], GIVEN)
    every = found(terms=None, shape="search", centres={POSITION: GIVEN, "e": (-1.0, 0.0, 1.0)})
    assert [(v.centres, v.shape.name) for v in every] == [((-1.0, 0.0, 1.0), "triangular"), (GIVEN, "triangular")]


def test_the_range_ends_where_the_quantity_does_and_holds_the_centres():
    variable = found(BOUNDED, centres={POSITION: GIVEN})[1]
    assert variable.low == 0.0  # noise went to -0.1
    assert variable.high == pytest.approx(found(centres={POSITION: GIVEN})[1].high)
    assert variable.high < 1.0
    wide = found(BOUNDED, centres={POSITION: (0.0, 1.0)})[1]
    assert (wide.low, wide.high) == (0.0, 1.0)
    beyond = given_variable("x", (-7.0, 0.0, 9.0), NOISY)
    assert (beyond.low, beyond.high) == (-7.0, 9.0)


def test_the_range_holds_what_a_loop_has_met_within_the_bounds():
    met = given_variable("x", GIVEN, NOISY, seen=(-4.0, 2.0), bounds=(-1.0, 50.0))
    assert (met.low, met.high) == pytest.approx((-1.0, 2.6))  # a tenth of 6 more


def test_a_centre_where_the_quantity_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        found(BOUNDED, centres={POSITION: (0.5, 1.5)})
    with pytest.raises(ValueError, match="'postion' is none of the inputs position; did you mean 'position'"):
        NetworkConfig(inputs=(POSITION,), centres={"postion": GIVEN})


@pytest.mark.parametrize("mirrored", [False, True])
def test_centres_nearer_than_the_range_allows_are_drawn_apart(mirrored):
    """A range that is wider than whoever gave the terms knew of ends no design."""
    found = given_variable("x", (-0.001, 0.0, 0.001), NOISY, seen=(-1.0, 3.0), mirrored=mirrored)
    assert found.centres == pytest.approx((-found.smallest_gap, 0.0, found.smallest_gap))
    assert (found.low == -found.high) is mirrored
    kept = given_variable("x", (-0.1, 0.0, 0.1), NOISY, seen=(-1.0, 3.0), mirrored=mirrored)
    assert kept.centres == (-0.1, 0.0, 0.1)


def test_widths_follow_the_centres_and_the_overlap():
    """Gaussian terms cross at 1/2 with overlap 1, so half of it halves their widths, down to the smallest allowed."""
    one, half = (given_variable("x", GIVEN, NOISY, shape="gaussian", overlap=share) for share in (1.0, 0.5))
    middle = np.mean(GIVEN)
    assert one.memberships(middle) == pytest.approx((0.5, 0.5))
    assert half.widths == pytest.approx(tuple(0.5 * width for width in one.widths))
    thin = given_variable("x", (0.0, 1.0), NOISY, shape="gaussian", overlap=1e-6)
    assert thin.widths == pytest.approx((SMALLEST_GAP * (thin.high - thin.low),) * 2)


def test_mirrored_terms_have_a_range_that_is_its_own_mirror_image():
    variable = found(mirrored=True, centres={POSITION: (-0.2, 0.2)})[1]
    assert variable.low == -variable.high
    assert variable.centres == (-0.2, 0.2)


def test_a_knowledge_base_without_a_teacher_has_them_too():
    from flcs import design

    config = NetworkConfig(inputs=(POSITION,), centres={POSITION: GIVEN}, rounds=0)
    kb = design(rows(), 0.0, 10.0, 1.0, config=config, plant=BOUNDED)
    assert kb.channels[0].inputs[0].centres == pytest.approx(GIVEN)  # without rounds the training leaves them
    seen = SimpleNamespace(own=np.zeros((101, 1, 3)), outputs=np.column_stack([NOISY] * len(VDP.measurements)))
    started = direct(kb, seen, BOUNDED, config).channels[0].inputs[0]
    assert (started.centres, started.low) == (GIVEN, 0.0)
    assert direct(kb, seen, BOUNDED).channels[0].inputs[0].centres != GIVEN
