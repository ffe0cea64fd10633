"""Assessments of known loops: what is found, what is refused, and in which words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sscq.identification.assessing import assessment
from sscq.identification.assessing.assessment import assess
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.reading.log import Log
from tests.plants.identification.reference_logs import R1, R2, R3


def log_of(loop, **changes):
    r, y, u = loop.run()
    return replace(Log("log.csv", 1.0, r, y, u, None, ((0, len(y)),)), **changes)


def codes(found):
    return [finding.code for finding in found.findings]


def test_a_sound_loop_with_its_gains_on_the_sheet():
    """Nothing is found, the margins are those of the truth, and the plants can be used."""
    told = []
    found = assess(log_of(R2), LoopKnowledge(present={"kp": R2.kp, "ki": R2.ki}), tell=lambda *what: told.append(what))
    assert found.findings == ()
    assert found.refusal == ""
    assert found.present.vector == (R2.kp, R2.ki, 0.0)
    assert found.sense == 1.0
    assert found.discrepancy == 0.08
    assert not found.valve.lags
    assert 1.2 < np.median(found.margins.sensitivity) < 1.4
    assert 0.0 < found.minimum_variance < 1.0
    assert {what for what, _, _ in told} == {"two lags", "oscillating", "valve"}


def test_a_valve_with_play_is_to_be_mended_first():
    """Play of 2, whose gain in log density was 19.6 in another program; its size is told within a factor of two."""
    knowledge = LoopKnowledge(present={"kp": R3.kp, "ki": R3.ki}, measured_span=(0.0, 100.0))
    found = assess(log_of(R3), knowledge)
    assert found.valve.gain == pytest.approx(19.6, abs=2.0)
    assert 1.0 <= found.valve.width <= 4.0
    assert found.refusal.startswith("the valve sticks or has play of about")
    assert found.refusal.endswith("mend the valve first")
    assert codes(found) == ["valve"]
    assert found.ensemble is not None


QUICK = {"present": {"kp": R1.kp, "ki": R1.ki}}


def short(loop, rows):
    """A log of so few rows that it is refused before anything is identified."""
    whole = log_of(loop)
    return replace(
        whole, set_point=whole.set_point[:rows], measured=whole.measured[:rows], output=whole.output[:rows],
        stretches=((0, rows),),
    )  # fmt: skip


def test_gains_come_from_the_log_where_there_is_no_sheet():
    found = assess(short(R1, 90))
    assert found.present.ki == pytest.approx(R1.ki, rel=1e-6)
    assert codes(found) == ["gains"]
    assert "no gains were given; those of the log are kp 0.4, ki 0.02" in found.findings[0].text


@pytest.mark.parametrize(
    ("present", "words"),
    [
        ({"kp": 0.8, "ki": 0.02}, "kp 0.8 on the sheet, 0.4 in the log"),
        ({"form": "standard", "K": 0.4, "Ti": 40.0}, "ki 0.01 on the sheet, 0.02 in the log"),
        ({"kp": -0.4, "ki": -0.02}, "kp -0.4 on the sheet, 0.4 in the log"),
    ],
)
def test_gains_that_the_loop_did_not_have_are_told(present, words):
    found = assess(short(R1, 90), LoopKnowledge(present=present))
    assert codes(found) == ["gains"]
    assert words in found.findings[0].text
    assert found.present.kp == pytest.approx(0.4, rel=1e-3)


def of_block(kp, ki):
    """A log of ninety rows of a block that sums behind its output, on a wandering error."""
    rng = np.random.default_rng(0)
    error = np.cumsum(0.1 * rng.standard_normal(90))
    output = 40.0 + kp * error + ki * np.concatenate([[0.0], np.cumsum(error)[:-1]])
    return Log("block", 1.0, np.full(90, 50.0), 50.0 - error, output, None, ((0, 90),))


@pytest.mark.parametrize(
    ("kp", "ki", "sense"), [(2.0, 0.0, 1.0), (-2.0, 0.0, -1.0), (-0.5, -0.02, -1.0), (0.3, 0.5, 1.0)]
)
def test_the_sense_is_that_of_the_blocks_gains(kp, ki, sense):
    """Also of a block without an integral, which rounding gives none, and of one with next to no kp."""
    found = assess(of_block(kp, ki), LoopKnowledge(present={"kp": kp, "ki": ki}))
    assert found.sense == sense
    assert codes(found) == []
    alone = assess(of_block(kp, ki))
    assert alone.sense == sense
    assert alone.present.vector == pytest.approx((kp, ki, 0.0), rel=1e-6, abs=1e-9)


def test_an_output_that_no_pid_makes_is_told():
    log = short(R1, 90)
    stranger = 40.0 + np.cumsum(np.random.default_rng(0).standard_normal(90))
    found = assess(replace(log, output=stranger), LoopKnowledge(**QUICK))
    assert codes(found) == ["law"]
    assert "the output is not that of a PID on this error: the best gains explain" in found.findings[0].text
    assert found.present.vector == (R1.kp, R1.ki, 0.0)


def holes(log):
    measured = log.measured.copy()
    measured[np.arange(len(measured)) % 10 < 4] = np.nan
    return replace(log, measured=measured)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda log: short(R1, 90), "90 measured rows are too few (at least 100)"),
        (
            lambda log: replace(log, output=np.where(np.arange(600) < 300, 40.0, 41.0)),
            "2 different values (at least 3): it is switched, not controlled",
        ),
        (
            lambda log: replace(log, output=np.full(600, 40.0), automatic=np.zeros(600, bool)),
            "1 different value (at least 2): it stands still",
        ),
        (
            lambda log: replace(log, output=np.where(np.arange(600) % 5 < 3, 100.0, log.output)),
            "at a limit in 60 % of the rows",
        ),
        (holes, "40 % of the rows are missing (at most 30 %)"),
        (lambda log: replace(log, measured=np.full(600, 50.0)), "the measured value is frozen"),
    ],
)
def test_logs_that_tell_nothing_are_refused_at_once(change, words):
    found = assess(change(log_of(R1)), LoopKnowledge(**QUICK))
    assert words in found.refusal
    assert found.ensemble is None


def test_limits_and_rounding_are_told():
    log = short(R1, 90)
    output = np.where(np.arange(90) % 10 == 0, 0.0, log.output)
    found = assess(replace(log, output=output, measured=np.round(log.measured)), LoopKnowledge(**QUICK))
    assert {"limit", "rounded"} <= set(codes(found))
    texts = " ".join(finding.text for finding in found.findings)
    assert "at its lower limit (0) in 10 % of the rows" in texts
    assert "rounded to 1" in texts


def test_a_long_log_keeps_enough_rows_for_the_loops_fastest_time(monkeypatch):
    """Its lag and dead time are 7 s: twenty rows in them are shorter than the log's own."""
    monkeypatch.setattr(assessment, "MOST_ROWS", 100)
    found = assess(short(R2, 200))
    assert found.ensemble.records[0].step == 1.0
    assert "averaged" not in codes(found)
