"""What a knowledge base keeps of its authority outside the range that was taught."""

import numpy as np
import pytest

from flcs import FuzzyController, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.valid_range import outside, share

INPUTS = (Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0)),)
BASE = RuleBase("position", INPUTS, full_grid([3], (9.0, 1.0, 4.0)), (0.0,) * 3, (10.0,) * 3, (5.0, 1.0, 2.0))


def taught(**ranges):
    return KnowledgeBase("van_der_pol", (BASE,), tick=0.02, valid_range=ranges)


WIDE = taught(delay=[0.0, 0.16], output_delay=[0.0, 0.0], noise=[0.02, 0.02])


@pytest.mark.parametrize(
    ("conditions", "kept"),
    [
        ({}, 1.0),
        ({"delay": 0.16, "noise": 0.02}, 1.0),
        ({"delay": 0.17}, 0.75),  # a quarter of the range is 0.04 s
        ({"delay": 0.2}, 0.0),
        ({"delay": 1.0}, 0.0),
        ({"noise": 0.0}, 1.0),  # less than was taught
        ({"noise": 0.021}, 1.0 - 0.001 / 0.04),  # 1 % of the error's range, more than a quarter of the noise
        ({"output_delay": 0.005}, 0.75),  # none was taught: the time between two updates
        ({"delay": 0.18, "output_delay": 0.005}, 0.25),  # they add up
    ],
)
def test_share_of_the_authority(conditions, kept):
    assert share(WIDE, conditions) == pytest.approx(kept, abs=1e-12)


def test_what_is_not_stated_does_not_count():
    assert share(taught(), {"delay": 5.0, "noise": 5.0}) == 1.0
    assert outside(taught(), {"delay": 5.0}) == {}
    assert outside(WIDE, {"delay": 0.17, "noise": 0.01, "output_delay": 0.0}) == {
        "delay": (0.0, 0.16), "noise": (0.02, 0.02),
    }  # fmt: skip


@pytest.mark.parametrize("conditions", [{"lag": 0.1}, {"delay": -0.1}, {"noise": float("nan")}])
def test_wrong_conditions_are_refused(conditions):
    with pytest.raises(ValueError, match="conditions are delay, output_delay, noise, finite and not negative, got"):
        share(WIDE, conditions)


def test_a_controller_gives_way_to_the_reference_gains():
    x = np.array([[0.3]])
    controller = FuzzyController(WIDE)
    reference, own = np.array(BASE.reference), controller.gains(x)[0]
    half = controller.under(delay=0.18).gains(x)[0]
    np.testing.assert_allclose(half, 0.5 * (reference + own), atol=1e-12)
    np.testing.assert_allclose(controller.under(delay=0.3).gains(x)[0], reference, atol=1e-12)
    np.testing.assert_array_equal(controller.under(delay=0.1).gains(x)[0], own)
