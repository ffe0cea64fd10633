"""Ensembles of known loops against reference values, what is refused, and how members are spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from plants.identification.record import LoopRecord
from plants.identification.slow_filter import Filtered
from sscq.identification.ensemble import DISCREPANCY, MEMBERS, PlantMembers, identify, interval_of
from sscq.identification.residuals import residual_test
from tests.plants.identification.reference_logs import LOOPS

EXPECTED = {  # median, 5 and 95 per cent, from another program
    "R1": {"slope": (0.097, 0.076, 0.171), "decay": (0.049, 0.032, 0.101), "dead_time": (4.4, 1.7, 6.2)},
    "R2": {"slope": (0.0198, 0.0187, 0.0208), "decay": (0.0007, -0.0004, 0.0026), "dead_time": (3.2, 2.4, 4.1)},
    "R3": {"slope": (0.030, 0.027, 0.034)},
}
ROOM = 0.22  # of a width: an end differs by 0.06 from seed to seed, so by 0.085 between two programs; 2.6 times that


def record(name):
    _, y, u = LOOPS[name].run()
    return LoopRecord(y, u, 1.0)


@pytest.fixture(scope="module")
def found():
    return {name: identify([record(name)]) for name in LOOPS}


@pytest.mark.parametrize("name", LOOPS)
def test_ensembles_are_those_of_the_reference(found, name):
    members = found[name].members[0]
    for parameter, (middle, low, high) in EXPECTED[name].items():
        own_low, own_middle, own_high = interval_of(members.column(parameter))
        room = ROOM * (high - low)
        assert (own_low, own_middle, own_high) == pytest.approx((low, middle, high), abs=room), parameter
    assert found[name].refusal == ""
    assert sum(map(len, found[name].members)) == pytest.approx(MEMBERS, abs=2)


def test_gain_of_the_first_log(found):
    members = found["R1"].members[0]
    low, middle, high = interval_of(members.column("slope") / members.column("decay"))
    assert (low, middle, high) == pytest.approx((1.46, 1.95, 2.82), abs=ROOM * (2.82 - 1.46))


def test_what_is_left_over_of_the_right_plant_is_noise(found):
    """A chi-squared number of twenty degrees of freedom is below 45 in 999 of 1000 logs."""
    assert all(one.residuals.portmanteau < stats.chi2.ppf(0.999, 20) for one in found.values())
    assert found["R1"].input_evidence > 12.0


def test_the_same_bits_for_any_number_of_threads():
    whole = record("R1")
    short = LoopRecord(whole.output[:150], whole.input[:150], 1.0)
    one, other = (identify([short], seed=3, threads=threads) for threads in (1, 2))
    assert one.members[0].parameters.tobytes() == other.members[0].parameters.tobytes()
    assert one.input_evidence == other.input_evidence


def test_an_output_that_has_nothing_to_do_with_the_input_is_refused():
    rng = np.random.default_rng(0)
    y, u = (np.cumsum(scale * rng.standard_normal(600)) for scale in (0.1, 0.2))
    assert "the output hardly follows the plant's input" in identify([LoopRecord(50.0 + y, 40.0 + u, 1.0)]).refusal


def test_inputs_and_outputs_that_stand_still_are_refused():
    moves, still = np.sin(np.arange(200.0)), np.full(200, 40.0)
    with pytest.raises(ValueError, match="input does not move"):
        identify([LoopRecord(moves, still, 1.0)])
    with pytest.raises(ValueError, match="output does not move"):
        identify([LoopRecord(still, moves, 1.0)])


def test_members_are_spread_by_the_discrepancy(found):
    """Logarithms by 0.08 in each parameter; nothing else moves, and the same seed moves the same."""
    one, moved = found["R3"].members[0], found["R3"].spread()[0]
    for name in ("slope", "decay", "lag"):
        change = np.log(moved.column(name) / one.column(name))
        assert change.std() == pytest.approx(DISCREPANCY, rel=0.1)
    late = (moved.column("dead_time") - one.column("dead_time")) / (one.column("dead_time") + one.column("lag") + 0.5)
    assert late.std() == pytest.approx(DISCREPANCY, rel=0.1)
    assert (moved.column("noise") == one.column("noise")).all()
    assert (moved.column("dead_time") >= 0.0).all()
    assert moved.parameters.tobytes() == found["R3"].spread()[0].parameters.tobytes()
    assert isinstance(moved, PlantMembers)


def innovations(values):
    n = len(values)
    empty = np.empty((n, 4))
    return Filtered(0.0, values, np.ones(n), empty, empty, empty, empty, np.eye(4))


def test_the_portmanteau_statistic_of_white_noise_is_chi_squared():
    """Of 400 rows of noise: Kolmogorov and Smirnov's test at one in a thousand; a lag of 0.5 is seen."""
    rng = np.random.default_rng(1)
    found = [residual_test([innovations(rng.standard_normal(400))]).portmanteau for _ in range(300)]
    assert stats.kstest(found, stats.chi2(20).cdf).pvalue > 1e-3
    noise = rng.standard_normal(401)
    coloured = residual_test([innovations(noise[1:] + 0.5 * noise[:-1])])
    assert coloured.portmanteau > stats.chi2.ppf(0.999, 20)
    assert coloured.correlation[0] == pytest.approx(0.5 / 1.25, abs=0.15)


def test_rows_beyond_four_deviations_are_counted():
    values = np.zeros(203)
    values[3:] = np.random.default_rng(0).uniform(-1.0, 1.0, 200)
    values[[10, 50]] = 9.0, -7.0
    values[20] = np.nan
    assert residual_test([innovations(values)]).far == pytest.approx(2.0 / 199.0)


def manual(sense):
    """A log in manual: a plant whose output rises or falls as its input steps, under a wandering load."""
    rng, y = np.random.default_rng(4), np.zeros(160)
    u = 40.0 + np.repeat([0.0, 4.0, -3.0, 2.0], 40)
    for k in range(1, 160):
        y[k] = 0.95 * y[k - 1] + sense * 0.05 * 1.5 * (u[max(k - 4, 0)] - 40.0)
    return LoopRecord(50.0 + y + 0.1 * rng.standard_normal(160), u, 1.0)


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_log_in_manual_tells_the_sense(sense):
    found = identify([manual(sense)], sense=None)
    assert found.sense == sense
    assert found.sense_evidence > 20.0
    assert found.refusal == ""


def test_no_plant_is_later_than_it_may_be():
    found = identify([manual(1.0)], longest_dead_time=2.0)
    assert max(group.column("dead_time").max() for group in found.members) <= 2.0


def test_a_sense_that_the_log_does_not_tell_is_refused(found):
    refusal = replace(found["R1"], sense_evidence=2.0).refusal
    assert "does not tell whether more output raises or lowers" in refusal
