"""Loops of members: the reference logs without noise, the project's own simulation, and loops that run away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.identification.oscillating import OSCILLATING
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.ensemble import PlantMembers
from sscq.identification.loops import ScenarioSignals, respond, run_loops, step_answers
from tests.plants.identification.reference_logs import INPUT, LOOPS, REST, ROWS, stairs

LAW = PID(limits=(-INPUT, 100.0 - INPUT), sample_time=1.0, rate_source="difference")


def members(structure=TWO_LAGS, noise=0.0, curve=0.0, **plant):
    values = {"noise": noise, "load": 0.1, "walk": 0.05, "load_time": 5.0, "curve": curve} | plant
    return PlantMembers(structure, np.array([[values[name] for name in structure.parameters]]))


def of(loop):
    return members(slope=loop.slope, decay=loop.decay, lag=loop.lag, dead_time=loop.dead_time)


@pytest.mark.parametrize("name", ["R1", "R2"])
def test_loops_are_those_of_the_reference_logs(name):
    """Error and travel of the whole log, which clips, integrates and is late by parts of a row."""
    loop = replace(LOOPS[name], noise=0.0)
    r, y, u = loop.run()
    signals = ScenarioSignals(1.0, r - REST, stairs(loop.load), None)
    found = run_loops([of(loop)], 1.0, LAW, np.array([[loop.kp, loop.ki, 0.0]]), signals)
    assert found.error[0, 0] == pytest.approx(np.abs(r - y).sum(), rel=1e-12)
    assert found.travel[0, 0] == pytest.approx(np.abs(np.diff(np.concatenate([[INPUT], u]))).sum(), rel=1e-12)


def test_an_oscillating_loop_is_the_simulated_one():
    """The second-order plant of the library, stepped finely by Runge and Kutta: the travel of the same law, to 1e-4."""
    plant, gains = plants.get("second_order_dead_time"), np.array([0.6, 0.3, 0.4])
    law = PID(limits=(-10.0, 10.0), sample_time=0.1, rate_source="difference", derivative_on="measurement")
    situation = sscq.Situation(reference=1.0, t_end=20.0, parameters={"K": 1.2, "T": 1.1, "zeta": 0.3, "L": 0.25})
    quality = sscq.evaluate(plant, law, [gains], situation, step=0.0125)
    one = members(OSCILLATING, gain=1.2, damping=0.3, period=1.1, dead_time=0.25)
    n = 200
    found = run_loops([one], 1.0, law, gains, ScenarioSignals(0.1, np.ones(n), np.zeros(n), None))
    first = gains[0]  # the answer to the step itself, from where the output rests
    assert found.travel[0, 0] - first == pytest.approx(float(np.ravel(quality.values["total_variation"])[0]), rel=1e-3)
    assert found.error[0, 0] == pytest.approx(float(np.ravel(quality.values["iae"])[0]), rel=0.02)  # sums of rows


def test_a_curved_input_makes_a_stronger_plant():
    """By exp(curve u) at the input where it rests; without a load it is what the law has to do less."""
    n = ROWS
    signals = ScenarioSignals(1.0, np.full(n, 10.0), np.zeros(n), None)
    plant = {"slope": 0.02, "decay": 0.02, "lag": 2.0, "dead_time": 1.0}
    straight, curved = (
        run_loops([members(**plant, curve=c)], 1.0, LAW, np.array([[1.0, 0.03, 0.0]]), signals) for c in (0.0, 0.05)
    )
    assert straight.error[0, 0] > curved.error[0, 0]
    assert np.isfinite(curved.error).all()


def test_the_sense_is_the_laws_action():
    """A falling plant under a reverse law is a rising one under a direct law."""
    n = ROWS
    gains = np.array([[0.5, 0.02, 0.1]])
    plant = [members(slope=0.05, decay=0.03, lag=2.0, dead_time=3.0, noise=0.1)]
    law = replace(LAW, limits=(-30.0, 30.0))
    rising, falling = (
        run_loops(
            plant, s, replace(law, action=action), gains, ScenarioSignals(1.0, np.full(n, 2.0), np.full(n, load), 3)
        )
        for s, action, load in ((1.0, "direct", 0.5), (-1.0, "reverse", -0.5))
    )
    assert rising.error == pytest.approx(falling.error, rel=1e-12)
    assert rising.travel == pytest.approx(falling.travel, rel=1e-12)


def test_loops_that_run_away_are_infinite_and_leave_the_others_alone():
    n = ROWS
    free = replace(LAW, limits=None)
    signals, plant = (
        ScenarioSignals(1.0, np.full(n, 2.0), np.zeros(n), 0),
        members(slope=0.05, decay=0.03, lag=2.0, dead_time=3.0, noise=0.1),
    )
    gains = np.tile([[0.5, 0.02, 0.0]], (20, 1))
    gains[7] = 50.0, 1.0, 0.0
    found = run_loops([plant], 1.0, free, gains, signals)
    assert np.flatnonzero(found.lost[:, 0]).tolist() == [7]
    alone = run_loops([plant], 1.0, free, gains[0], signals)
    assert (np.delete(found.error, 7) == alone.error[0, 0]).all()


def test_members_and_candidates_come_in_their_places():
    """Both structures, more members than lanes and fewer candidates, and the other way round: the same bits."""
    rng, n = np.random.default_rng(0), 120
    lags = np.tile(members(slope=0.05, decay=0.03, lag=2.0, dead_time=3.0).parameters, (21, 1))
    lags[:, :4] *= np.exp(0.2 * rng.standard_normal((21, 4)))
    groups = [PlantMembers(TWO_LAGS, lags), members(OSCILLATING, gain=1.2, damping=0.3, period=4.0, dead_time=2.0)]
    gains = np.array([0.4, 0.02, 0.0]) * np.exp(0.3 * rng.standard_normal((18, 3)))
    signals = ScenarioSignals(1.0, np.full(n, 2.0), np.full(n, 0.5), 1)
    table = run_loops(groups, 1.0, LAW, gains, signals).error
    assert table.shape == (18, 22)
    for i, j in ((0, 0), (17, 20), (5, 21), (11, 3)):
        one = PlantMembers(TWO_LAGS, lags[j : j + 1]) if j < 21 else groups[1]
        assert run_loops([one], 1.0, LAW, gains[i], signals).error[0, 0] == table[i, j]


def test_signals_row_by_row_have_the_compiled_sums():
    """In NumPy, with noise, a curve, a filtered derivative, limits that bind, and both structures."""
    law = replace(LAW, limits=(-3.0, 7.0), derivative_filter_time=2.0, derivative_on="measurement")
    lags = members(slope=0.05, decay=0.03, lag=2.0, dead_time=3.4, noise=0.1, curve=0.02)
    groups = [lags, members(OSCILLATING, gain=1.2, damping=0.3, period=4.0, dead_time=2.0, noise=0.05)]
    signals = ScenarioSignals(1.0, np.full(200, 5.0), np.where(np.arange(200) > 100, -2.0, 0.0), 3)
    gains = np.array([0.8, 0.05, 1.0])
    found, sums = respond(groups, 1.0, law, gains, signals), run_loops(groups, 1.0, law, gains, signals)
    assert np.abs(5.0 - found.output).sum(axis=1) == pytest.approx(sums.error[0], rel=1e-9)
    travel = np.abs(np.diff(found.command, axis=1, prepend=0.0)).sum(axis=1)
    assert travel == pytest.approx(sums.travel[0], rel=1e-9)
    assert found.command.max() == 7.0


def test_answers_to_a_step_are_those_of_the_formula():
    """One lag with a second one that is hardly there: gain (1 - exp(-(t - L) / T)) after dead time, in exact steps."""
    rows = np.array([[0.1, 0.05, 1e-6, 5.3, 0.1, 0.0, 0.0, 1.0, 0.3]])
    found = step_answers(PlantMembers(TWO_LAGS, rows), 100, 1.0)
    time = np.arange(100.0)
    expected = 2.0 * np.where(time > 5.3, -np.expm1(-0.05 * (time - 5.3)), 0.0)
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
