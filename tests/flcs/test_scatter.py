"""Random gains in one region of the rules: where they go, what they may be."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import Inference, KnowledgeBase, RuleBase, Variable, scatter
from flcs.rule_base import full_grid
from sscq.warp import Warp

LOW, HIGH = (0.0, 0.0, 0.0), (10.0, 20.0, 1.0)
SLIP = Variable("slip", "", 0.0, 1.0, (0.1, 0.9))
OWN = Variable("e", "", -1.0, 1.0, (-0.5, 0.5))


def base(output, reference, inputs=(SLIP,)):
    grid = full_grid([v.n_terms for v in inputs], reference)
    return RuleBase(output, inputs, tuple(grid), LOW, HIGH, reference)


TWO = KnowledgeBase("plant", (base("y", (2.0, 5.0, 0.5)), base("v", (1.0, 0.0, 0.1))), Inference(), 0.01)
APART = replace(TWO, channels=(TWO.channels[0], base("v", (1.0, 0.0, 0.1), (OWN,))))


def test_channels_with_the_same_inputs_share_regions():
    assert scatter.regions(TWO) == ((("slip",), (0,)), (("slip",), (1,)))
    assert len(scatter.regions(APART)) == 4


def test_gains_go_to_one_region_and_nowhere_else():
    gains = np.arange(1.0, 7.0)
    changed = scatter.with_gains(TWO, (("slip",), (1,)), gains)
    for old, new, own in zip(TWO.channels, changed.channels, (gains[:3], gains[3:]), strict=True):
        assert new.rules[0] == old.rules[0]
        assert new.rules[1].gains == tuple(own)
        assert new.reference == old.reference
    alone = scatter.with_gains(APART, (("e",), (0,)), gains)
    assert alone.channels[0] == APART.channels[0]
    assert alone.channels[1].rules[0].gains == (4.0, 5.0, 6.0)


def test_they_are_drawn_over_the_box_some_of_them_staying_what_they_are():
    """Half of the gains stay, of 300 x 6 within four standard deviations: 0.5 +- 0.05; the others reach both ends."""
    drawn = scatter.drawn(TWO, 300, seed=1)
    low, high = np.tile(LOW, 2), np.tile(HIGH, 2)
    assert drawn.shape == (300, 6)
    assert ((drawn >= low) & (drawn <= high)).all()
    reference = np.array([2.0, 5.0, 0.5, 1.0, 0.0, 0.1])
    stays = np.isclose(drawn, Warp(low, high, reference).gains(Warp(low, high, reference).genes(reference)), rtol=1e-9)
    assert stays.mean() == pytest.approx(0.5, abs=0.05)
    assert (drawn.max(axis=0) > 0.9 * high).all()
    assert (drawn.min(axis=0) < 0.05 * high).all()
    np.testing.assert_array_equal(drawn, scatter.drawn(TWO, 300, seed=1))
    assert (drawn != scatter.drawn(TWO, 300, seed=2)).any()


def test_those_that_may_not_be_used_are_drawn_anew():
    drawn = scatter.drawn(TWO, 50, 1, kept=lambda gains: gains[:, 0] > 4.0)
    assert len(drawn) == 50
    assert (drawn[:, 0] > 4.0).all()
    assert len(scatter.drawn(TWO, 5, 1, kept=lambda gains: np.zeros(len(gains), bool))) == 0
