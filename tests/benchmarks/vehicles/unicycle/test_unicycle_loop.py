"""The unicycle's loop study: where delayed accelerations work, rollouts in all forms, and its page."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.vehicles.loops import LoopTimes
from benchmarks.vehicles.unicycle.loop import (
    CASES,
    STEPS,
    WAYS,
    UnicycleLoopFindings,
    as_section,
    drawn_angles,
    error,
    page,
    solution,
)
from experiments.reproduce.vehicles.unicycle.delayed import APART, SCHEMES, motions, threshold
from experiments.reproduce.vehicles.unicycle.loop_forms import ARRANGEMENTS, gains, upright
from experiments.reproduce.vehicles.unicycle.rollouts import UnicycleRuns, UnicycleScheme, UnicycleSchemeRuns
from experiments.runtime.timing import Timing
from plants.unicycle.tasks import start


def lasted(scheme, step, rolls, speed=1.5):
    return UnicycleSchemeRuns(scheme)(step, 4.0, [(start(speed, roll, 0.03), speed) for roll in rolls])[1]


def test_delayed_accelerations_fail_beyond_the_threshold():
    """The specification: 0.06 rad fails at 0.04 s with 0.1 ms, 0.08 at 0.02 s with it and at 0.21 s with 1 ms."""
    fine = lasted(UnicycleScheme(), 1e-4, (0.03, 0.05, 0.06, 0.08))
    np.testing.assert_allclose(fine[:2], 4.0)
    np.testing.assert_allclose(fine[2:], (0.04, 0.02), atol=0.001)
    assert lasted(UnicycleScheme(), 1e-3, (0.08,))[0] == pytest.approx(0.21, abs=0.005)


def test_errors_of_an_exact_solve():
    """The specification: 1.4e-4 rad at 1 ms; it starts a little farther from balance."""
    assert error(UnicycleSchemeRuns(UnicycleScheme(solved=True)), 1e-3, solution()) == pytest.approx(1.4e-4, rel=0.2)


@pytest.mark.slow
def test_errors_of_delayed_accelerations():
    """The specification: at 0.1 ms a tenth of that, and 5 to 6 times as much delayed."""
    expected = solution()
    fine = error(UnicycleSchemeRuns(UnicycleScheme(solved=True)), 1e-4, expected)
    assert fine == pytest.approx(1.4e-5, rel=0.2)
    assert 5.0 < error(UnicycleSchemeRuns(UnicycleScheme()), 1e-4, expected) / fine < 6.0


def test_more_passes_do_not_help_beyond_the_threshold_and_sweeps_do():
    assert lasted(UnicycleScheme(passes=5), 1e-4, (0.06,))[0] < 0.02
    np.testing.assert_allclose(lasted(UnicycleScheme(sweep=True), 1e-4, (0.06, 0.1)), 4.0)


def test_angles_over_time_end_where_the_exact_solve_is_left():
    times, found = motions(0.08, points=40)
    left = {name: times[np.isfinite(angles[:, 0])][-1] for name, angles in found.items()}
    assert left["solved"] == left["share 0.5, 20 passes a step"] == 4.0
    assert left["delayed"] < left["delayed, share 0.5"] < 1.3  # they fall at 0.21 s and 1.3 s
    np.testing.assert_allclose(found["share 0.5, 20 passes a step"], found["solved"], atol=2e-3)
    for name in ("delayed", "delayed, share 0.5"):
        away = np.abs(found[name] - found["solved"])
        assert np.nanmax(away) <= APART
    assert "<svg" in drawn_angles(points=4)


def test_the_threshold_is_where_the_gain_is_1():
    assert threshold() == pytest.approx(0.047, abs=5e-4)  # the specification's
    assert gains(state=upright(threshold()))[ARRANGEMENTS[0]].radius == pytest.approx(1.0, rel=1e-9)


@pytest.mark.slow
def test_relaxation_is_a_lag_in_the_control_loop():
    """The specification: a share of 0.5 falls at 1.8 s with 1 ms, 0.2 at 0.7 s; 0.05 falls with 0.1 ms, 0.5 stands."""
    assert lasted(UnicycleScheme(share=0.5), 1e-3, (0.03,))[0] == pytest.approx(1.8, abs=0.25)
    assert lasted(UnicycleScheme(share=0.2), 1e-3, (0.03,))[0] == pytest.approx(0.7, abs=0.05)
    assert lasted(UnicycleScheme(share=0.5), 1e-4, (0.03,))[0] == pytest.approx(4.0)
    assert lasted(UnicycleScheme(share=0.05), 1e-4, (0.03,))[0] < 2.0
    fast = lasted(UnicycleScheme(share=0.8), 1e-4, (0.2, 0.25), 3.0)
    assert fast[0] == pytest.approx(4.0)
    assert fast[1] < 0.1


@pytest.mark.slow
def test_all_forms_and_ways_move_alike():
    ends = {way: UnicycleRuns(*way).run(16, 50) for way in WAYS}
    exact = ends["minimal", "solved"]
    for (form, mode), end in ends.items():
        # Delays err by the first order of the step; all others by rounding, and by RK4 where angles close the legs.
        np.testing.assert_allclose(end, exact, atol=5e-3 if mode == "loop_free" else 1e-9, err_msg=f"{form} {mode}")


def test_the_page_says_what_was_found():
    times = {way: Timing((1e-7 * (k + 1),) * 3) for k, way in enumerate(WAYS)}
    errors = {(name, step): 1e-4 * (k + 1) for k, name in enumerate(SCHEMES) for step in STEPS}
    survived = {(name, step, case): 4.0 for name in SCHEMES for step in STEPS for case in CASES}
    survived["delayed", 1e-4, "0.06 rad"] = 0.04
    survived["delayed, share 0.5", 1e-3, "0.03 rad"] = 1.6
    errors["delayed, share 0.5", 1e-3] = np.inf
    found = UnicycleLoopFindings(
        {roll: gains() for roll in (0.0, 0.3)}, {"": LoopTimes(times, dict.fromkeys(WAYS, 1e-3))},
        {1: Timing((8e-7,)), 16: Timing((1e-7,))}, {"minimal": 1685}, {0.0: 1.1, 0.3: 0.7},
        dict.fromkeys(ARRANGEMENTS, (0.7, 1.3, 1.6)), errors, survived, 0.05,
    )  # fmt: skip
    text = page(found, {"processor": "any"})
    flat = " ".join(text.split())
    assert "| 0 | 0.7855 | 0.8145 | 0.7959 | 0.6171 | 0.0460 | 1.100 |" in text
    assert "**16 lanes** against one: a factor of 8." in flat
    assert "1 at a roll of 0.05 rad" in flat
    assert "From 0.06 rad it fails after 0.04 s at 0.1 ms" in flat
    assert "at 1 ms the unicycle falls after 1.6 s" in flat
    assert "one delayed pass errs 2 times as much as an exact solve at 0.1 ms" in flat
    assert "| minimal | iterated | 200 | 0.40 | 1.0e-03 |" in text  # the delayed pass takes 500
    assert "| delayed, share 0.5 | 1 ms | falls at 1.6 s | - |" in text
    section = as_section(found)
    assert any("loop gain, printed" in row.what for row in section.rows)
