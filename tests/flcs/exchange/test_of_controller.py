"""A knowledge base made of a PID or a gain table closes the same loop, and what has no such twin is refused."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, ErrorIntegralPID, GainTable, TimeGains, TwoDegreePID, gain_names
from flcs import FuzzyController
from flcs.exchange.of_controller import knowledge_base_of
from sscq.situations.situation import Situation

TICK = 0.02
NOISE = 0.01
PLANT = plants.find("van_der_pol")
LAW = PID(limits=(-20.0, 20.0), sample_time=0.01, derivative_filter_time=0.02)
TWO = TwoDegreePID(limits=(-20.0, 20.0), sample_time=0.01, derivative_filter_time=0.02)
REFERENCE = np.array([3.6, 0.6, 3.2])
BOX = np.zeros(3), np.full(3, 10.0)
INNER, OUTER = [2.0, 0.5, 3.0], [6.0, 1.5, 1.0]


def table(signal, nodes, **others):
    """A gain table under the law."""
    return Controller((LAW,), GainTable(signal, nodes, tick=TICK, **others))


SAME = {
    "constant": (Controller((LAW,), ConstantGains()), [4.0, 0.7, 2.0]),
    "weighed": (Controller((TWO,), ConstantGains(gain_names((TWO,)))), [4.0, 0.7, 2.0, 0.4]),
    "error": (table("error", (0.0, 1.0), transform="magnitude", search_scale=True), [*INNER, *OUTER, 0.7]),
    "rate": (table("error_rate", (0.0, 1.0), transform="magnitude", search_scale=True), [*INNER, *OUTER, 1.5]),
    "apart": (table("error", (0.2, 0.5, 0.9), transform="magnitude"), [*INNER, *OUTER, *INNER]),
    "output": (table("position", (-0.4, 0.1, 0.9)), [*INNER, *OUTER, *REFERENCE]),
}


def made(controller, theta, **others):
    """Its knowledge base."""
    given = {"box": BOX, "reference": REFERENCE, "tick": TICK} | others
    return knowledge_base_of(PLANT, controller, np.array(theta, float), **given)


@pytest.mark.parametrize("case", SAME)
def test_the_loop_is_the_same(case):
    """Wide steps drive the signals past the outermost nodes on both sides."""
    controller, theta = SAME[case]
    kb = made(controller, theta)
    fuzzy = FuzzyController(kb)
    for reference in (-1.5, 2.0):
        situation = Situation(reference=reference, initial=(-0.5 * reference, 0.0), t_end=5.0, noise=NOISE, seed=3)
        one, other = (
            sscq.record(PLANT, which, np.array(values, float), situation, 0.01)
            for which, values in ((controller, theta), (fuzzy, fuzzy.theta))
        )
        np.testing.assert_allclose(other.group("command"), one.group("command"), rtol=0, atol=1e-9)


def test_the_reference_gains_are_those_that_less_authority_goes_back_to():
    kb = made(*SAME["error"])
    np.testing.assert_allclose(kb.gains([[0.0]], authority=0.0)[0], REFERENCE)
    np.testing.assert_allclose(kb.gains([[0.35]])[0], np.mean([INNER, OUTER], axis=0))
    np.testing.assert_allclose(kb.gains([[1e6], [-1e6]]), [OUTER, OUTER], rtol=1e-5)


def test_gains_outside_the_box_widen_it():
    kb = made(SAME["constant"][0], [12.0, 0.7, 2.0])
    assert kb.channels[0].high == (12.0, 10.0, 10.0)
    assert kb.channels[0].reference == (12.0, 0.7, 2.0)


@pytest.mark.parametrize(
    ("controller", "theta", "why"),
    [
        (table("position", (0.0, 1.0), transform="square", search_scale=True), [*INNER, *OUTER, 1.0], "square"),
        (Controller((LAW,), TimeGains((0.0, 1.0))), [*INNER, *OUTER], "TimeGains"),
        (Controller((ErrorIntegralPID(),), ConstantGains()), INNER, "got ErrorIntegralPID"),
        (table("error", tuple(range(12))), INNER * 12, "2 to 9 terms"),
    ],
)
def test_what_no_knowledge_base_is_equal_to_is_refused(controller, theta, why):
    with pytest.raises(ValueError, match=why):
        made(controller, theta)


def test_a_table_over_one_channels_error_schedules_no_other_channels_gains():
    heater = plants.find("heater")
    laws = (LAW,) * len(heater.channels)
    schedule = GainTable("error", (0.0, 1.0), transform="magnitude", gain_names=gain_names(laws), tick=TICK)
    n = 3 * len(laws)
    with pytest.raises(ValueError, match="that of their own channel"):
        knowledge_base_of(
            heater, Controller(laws, schedule), np.ones(2 * n), box=(np.zeros(n), np.ones(n)), reference=np.ones(n),
            tick=TICK,
        )  # fmt: skip
    constant = Controller(laws, ConstantGains(gain_names(laws)))
    numbers = np.linspace(0.1, 0.9, n)
    kb = knowledge_base_of(heater, constant, numbers, box=(np.zeros(n), np.ones(n)), reference=np.ones(n), tick=TICK)
    np.testing.assert_allclose(kb.gains(np.zeros((1, len(laws))))[0], numbers)
