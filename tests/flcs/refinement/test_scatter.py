"""Random gains in one region of the rules: where they go, what they may be."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.refinement import regions

LOW, HIGH = (0.0, 0.0, 0.0), (10.0, 20.0, 1.0)
SLIP = Variable("slip", "", 0.0, 1.0, (0.1, 0.9))
OWN = Variable("e", "", -1.0, 1.0, (-0.5, 0.5))


def base(output, reference, inputs=(SLIP,)):
    grid = full_grid([v.n_terms for v in inputs], reference)
    return RuleBase(output, inputs, tuple(grid), LOW, HIGH, reference)


TWO = KnowledgeBase("plant", (base("y", (2.0, 5.0, 0.5)), base("v", (1.0, 0.0, 0.1))), Inference(), 0.01)
APART = replace(TWO, channels=(TWO.channels[0], base("v", (1.0, 0.0, 0.1), (OWN,))))


def test_channels_with_the_same_inputs_share_regions():
    assert regions.regions(TWO) == ((("slip",), (0,)), (("slip",), (1,)))
    assert len(regions.regions(APART)) == 4


def test_gains_go_to_one_region_and_nowhere_else():
    gains = np.arange(1.0, 7.0)
    changed = regions.with_gains(TWO, (("slip",), (1,)), gains)
    for old, new, own in zip(TWO.channels, changed.channels, (gains[:3], gains[3:]), strict=True):
        assert new.rules[0] == old.rules[0]
        assert new.rules[1].gains == tuple(own)
        assert new.reference == old.reference
    alone = regions.with_gains(APART, (("e",), (0,)), gains)
    assert alone.channels[0] == APART.channels[0]
    assert alone.channels[1].rules[0].gains == (4.0, 5.0, 6.0)


SLIPPING = (("slip",), (1,))


def test_they_are_drawn_over_the_box_each_choice_of_channels_in_its_turn():
    """One channel, the other, both: 100 of 300 each; those that change reach both ends in equal ratios."""
    now = (2.0, 5.0, 0.5, 1.0, 0.0, 0.1)
    drawn = regions.draw_gains(TWO, 300, SLIPPING, seed=1)
    low, high = np.tile(LOW, 2), np.tile(HIGH, 2)
    assert drawn.shape == (300, 6)
    assert ((drawn >= low) & (drawn <= high)).all()
    stays = (drawn.reshape(300, 2, 3) == np.reshape(now, (2, 3))).all(axis=2)
    assert [(stays == choice).all(axis=1).sum() for choice in ((1, 0), (0, 1), (0, 0))] == [100] * 3
    others = drawn[:, :3][~stays[:, 0]]
    ratio = others / now[:3]
    near = ((ratio >= 1 / 1.5) & (ratio <= 1.5)).all(axis=1)
    assert near.mean() == pytest.approx(0.5, abs=0.15)  # of 200, four standard deviations; far ones are seldom near
    far = others[~near]
    assert (far == 0.0).mean(axis=0) == pytest.approx([0.1, 0.5, 0.1], abs=0.2)  # of 100, four standard deviations
    share = np.where(far > 0.0, far / high[:3], np.nan)
    assert np.nanmedian(share, axis=0) == pytest.approx(50.0**-0.5, rel=0.6)  # half way in ratios
    assert (np.nanmin(share, axis=0) >= 1 / 50).all()
    assert (np.nanmax(share, axis=0) > 0.75).all()
    np.testing.assert_array_equal(drawn, regions.draw_gains(TWO, 300, SLIPPING, seed=1))
    assert (drawn != regions.draw_gains(TWO, 300, SLIPPING, seed=2)).any()


def test_a_channel_keeps_the_gains_of_the_region():
    gains = np.arange(1.0, 7.0) / 10.0
    changed = regions.with_gains(TWO, SLIPPING, gains)
    np.testing.assert_array_equal(regions.gains_of(changed, SLIPPING), gains)
    np.testing.assert_array_equal(regions.gains_of(changed, (("slip",), (0,))), regions.gains_of(TWO, SLIPPING))
    kept = (regions.draw_gains(changed, 100, SLIPPING, 1).reshape(100, 2, 3) == gains.reshape(2, 3)).all(axis=2)
    assert kept.any(axis=0).all()
    assert not kept.all(axis=1).any()
    np.testing.assert_array_equal(regions.gains_of(APART, (("e",), (0,)))[:3], TWO.channels[0].reference)


def test_those_that_may_not_be_used_are_drawn_anew():
    drawn = regions.draw_gains(TWO, 50, SLIPPING, 1, kept=lambda gains: gains[:, 0] > 4.0)
    assert len(drawn) == 50
    assert (drawn[:, 0] > 4.0).all()
    assert len(regions.draw_gains(TWO, 5, SLIPPING, 1, kept=lambda gains: np.zeros(len(gains), bool))) == 0


def test_a_channel_that_may_hardly_change_is_changed_as_often_as_others():
    """Its gain is 2 or above 9.5, as 1 of 100 draws is that change it: about 20 of 3600 may be used, all are among 60."""

    def kept(gains):
        return (gains[:, 0] == 2.0) | (gains[:, 0] > 9.5)

    drawn = regions.draw_gains(TWO, 60, SLIPPING, 1, kept)
    assert kept(drawn).all()
    assert len(drawn) == 60
    changed = (drawn[:, 0] > 9.5).sum()
    assert 8 < changed < 40  # taken as they come, 1 or 2 of 60


def test_those_that_are_not_admitted_leave_room_for_others_and_are_asked_in_parts():
    """What costs more to know is asked of those that are kept alone, of no more than are needed to choose from."""
    asked = []

    def admitted(gains):
        asked.append(len(gains))
        assert (gains[:, 0] > 1.0).all()
        return gains[:, 3] > 0.5

    drawn = regions.draw_gains(TWO, 40, SLIPPING, 1, lambda gains: gains[:, 0] > 1.0, admitted)
    assert len(drawn) == 40
    assert ((drawn[:, 0] > 1.0) & (drawn[:, 3] > 0.5)).all()
    assert max(asked) <= 40
    assert 3 * 40 <= sum(asked) <= 20 * 40
    asked.clear()
    assert (
        len(regions.draw_gains(TWO, 40, SLIPPING, 1, None, lambda gains: asked.append(1) or np.zeros(len(gains), bool)))
        == 0
    )
    assert len(asked) == 20


def test_a_region_is_named_by_its_terms():
    assert regions.words(TWO, SLIPPING) == "slip B"
