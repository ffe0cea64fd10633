"""Loops that promises are held against: they rest where they say, answer with their gains, and are drawn by number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.studies.calibration.least_squares import fitted
from experiments.studies.calibration.loops import KINDS, REST, careful_gains, closed, lags
from experiments.studies.calibration.study import UNRELATED, CalibratedLoop, drawn_log, page
from experiments.studies.engine.template import Template
from plants.identification.record import LoopRecord

N = 400
NONE = np.zeros(N)


@pytest.mark.parametrize("draw", KINDS)
def test_plants_rest_at_fifty_and_come_back(draw):
    """By hand at rest nothing moves; in automatic the set point is reached, and a load is fought."""
    plant = draw(np.random.default_rng(3))
    by_hand = np.full(N, REST)
    measured, output, _ = closed(plant, (0.0, 0.0), by_hand, NONE, NONE, 1.0, by_hand)
    assert measured == pytest.approx(np.full(N, REST), abs=1e-9)
    assert (output == REST).all()
    n = 3000
    load = np.where(np.arange(n) > 1500, 2.0, 0.0)
    _, _, true = closed(plant, careful_gains(plant, 0.8), np.full(n, REST + 2.0), load, np.zeros(n), 1.0)
    assert true[1450] == pytest.approx(REST + 2.0, abs=0.1)
    assert np.abs(true[1500:1700] - REST - 2.0).max() > 0.1
    assert true[-1] == pytest.approx(REST + 2.0, abs=0.1)


def test_one_lag_with_dead_time_answers_as_its_formula():
    plant = lags("first order", 2.0, [20.0], 7.0)
    by_hand = np.full(N, REST + 5.0)
    _, _, true = closed(plant, (0.0, 0.0), by_hand, NONE, NONE, 1.0, by_hand)
    time = np.arange(N)
    expected = REST + 10.0 * np.where(time > 7.0, -np.expm1(-(time - 7.0) / 20.0), 0.0)
    assert true == pytest.approx(expected, abs=0.01)


def test_a_curved_valve_has_its_slope_at_rest():
    straight, curved = (lags("valve curve", 1.5, [10.0, 2.0], 0.0, curve) for curve in (0.0, 0.03))
    for size, ratio in ((0.1, 1.0), (10.0, (math.exp(0.3) - 1.0) / 0.3)):
        by_hand = np.full(N, REST + size)
        one, other = (
            closed(p, (0.0, 0.0), by_hand, NONE, NONE, 1.0, by_hand)[2][-1] - REST for p in (straight, curved)
        )
        assert other / one == pytest.approx(ratio, rel=2e-3)


def test_logs_are_drawn_by_number():
    one, same, other = (drawn_log(number) for number in (4, 4, 5))
    assert one[2].measured.tobytes() == same[2].measured.tobytes()
    assert one[0].kind != other[0].kind
    assert one[1] == same[1]
    kinds = {drawn_log(number)[3] for number in range(40)}
    assert kinds == {"several steps", "bump in manual", "one step", "quiet", UNRELATED}


def test_logs_by_hand_say_so_and_others_have_steps():
    for number in range(12):
        _, _, log, kind = drawn_log(number)
        steps = int((np.abs(np.diff(log.set_point)) > 1.0).sum())
        assert (log.automatic is not None) == (kind == "bump in manual")
        assert steps == {"one step": 1, "quiet": 0, "bump in manual": 0}.get(kind, steps)
        assert kind != "several steps" or 1 <= steps <= 4


def loop(number, status, low=None, high=None, true=None, lost=False):
    median = None if low is None else 0.5 * (low + high)
    return CalibratedLoop(number, "tank", "one step", status, "", low, median, high, true, lost)


def test_the_page_counts_what_was_found():
    """Covered, missed on either side, worse, worse by more than five per cent, lost and refused."""
    found = [
        loop(0, "advised", 0.1, 0.3, 0.2), loop(1, "advised", 0.1, 0.3, -0.04), loop(2, "advised", 0.1, 0.3, -0.2, lost=True),
        loop(3, "keep", -0.2, 0.1, 0.0), loop(4, "refused"), loop(5, "advised", 0.1, 0.3, None),
    ]  # fmt: skip
    text = page(Template.of("calibration"), found)
    row = next(line for line in text.splitlines() if line.startswith("| all |"))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["6", "1", "2 of 5", "0.20", "4", "3", "2", "1"]
    assert text.count("MISSED") == 3
    assert "2: tank, one step: advised promised +0.10 +0.20 +0.30, true -0.20 MISSED LOST" in text


def test_every_twentieth_log_is_another_loops():
    _, _, log, kind = drawn_log(19)
    assert kind == UNRELATED
    assert abs(np.corrcoef(log.output[50:], log.set_point[50:] - log.measured[50:])[0, 1]) < 0.99
    assert drawn_log(18)[3] != UNRELATED


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_least_squares_find_a_plant_that_is_one(sense):
    """By hand, with white noise alone: its own conditions. Each estimate within four of its deviations."""
    rng = np.random.default_rng(2)
    plant = lags("first order", 2.0, [20.0], 7.0)
    by_hand = REST + 3.0 * np.sign(np.sin(np.arange(N) / 30.0))
    measured, output, _ = closed(plant, (0.0, 0.0), by_hand, NONE, 0.05 * rng.standard_normal(N), 1.0, by_hand)
    u = output if sense > 0.0 else 100.0 - output
    found = fitted(LoopRecord(measured, u, 1.0), sense).members[0]
    for name, true in (("slope", 0.1), ("decay", 0.05), ("dead_time", 7.0)):
        column = found.column(name)
        assert abs(column.mean() - true) < 4.0 * column.std() + 1e-3, name
        assert column.std() < 0.1 * true
