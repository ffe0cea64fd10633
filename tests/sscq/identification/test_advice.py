"""Promises and advice on known loops: what was promised holds on the plant itself, and what must stay stays."""

from __future__ import annotations

import numpy as np
import pytest

from plants.identification.record import LoopRecord
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.advice import SENSITIVITY, TRAVEL, WORST_SENSITIVITY, advise
from sscq.identification.ensemble import PlantMembers, identify
from sscq.identification.loops import run_loops
from sscq.identification.promise import LoopsAtRest, default_scenario, loop_law, promise
from tests.plants.identification.reference_logs import R1, R2

LOOPS = {"R1": R1, "R2": R2}


@pytest.fixture(scope="module")
def ensembles():
    found = {}
    for name, loop in LOOPS.items():
        _, y, u = loop.run()
        found[name] = identify([LoopRecord(y, u, 1.0)])
    return found


def truth(loop):
    values = [loop.slope, loop.decay, loop.lag, loop.dead_time, loop.noise, 0.1, 0.05, 5.0, 0.0]
    return PlantMembers(TWO_LAGS, np.array([values]))


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_promised_holds_on_the_plant_itself(ensembles, name):
    loop, ensemble = LOOPS[name], ensembles[name]
    present, scenario = (loop.kp, loop.ki, 0.0), default_scenario(ensemble)
    found = advise(ensemble, present, scenario)
    assert found.status == "advised"
    run = run_loops([truth(loop)], 1.0, loop_law(ensemble), np.array([present, found.gains]), scenario.signals(1.0))
    true = 1.0 - run.error[1, 0] / run.error[0, 0]
    assert found.promise.low <= true <= found.promise.high
    assert found.promise.low > 0.2
    assert found.promise.high - found.promise.low < 0.15
    (sensitivity,) = found.margins.sensitivity
    assert np.quantile(sensitivity, 0.95) < 1.05 * SENSITIVITY
    assert sensitivity.max() < 1.05 * WORST_SENSITIVITY
    assert found.promise.travel < 1.05 * TRAVEL
    assert f"{100.0 * found.promise.median:.0f} % less error" in found.reason
    assert advise(ensemble, present, scenario) == found or found.evaluations == 600


def test_the_best_gains_are_kept(ensembles):
    """Those that were advised, asked about once more: nothing is promised that is worth a change."""
    ensemble = ensembles["R1"]
    scenario = default_scenario(ensemble)
    first = advise(ensemble, (R1.kp, R1.ki, 0.0), scenario)
    again = advise(ensemble, first.gains, scenario)
    assert again.status == "keep"
    assert "keep the present gains" in again.reason
    assert again.gains is not None


def test_gains_that_the_log_cannot_have_had_are_refused(ensembles):
    ensemble = ensembles["R1"]
    found = advise(ensemble, (40.0, 2.0, 0.0), default_scenario(ensemble), limits=(-1e6, 1e6))
    assert found.status == "refused"
    assert "these are not the gains that it was recorded with" in found.reason


def test_the_same_gains_promise_nothing(ensembles):
    """All members gain 0; the ends are out by a hundredth."""
    ensemble = ensembles["R2"]
    found = promise(ensemble, (R2.kp, R2.ki, 0.0), (R2.kp, R2.ki, 0.0), default_scenario(ensemble))
    assert (found.per_member == 0.0).all()
    assert (found.low, found.median, found.high) == pytest.approx((-0.01, 0.0, 0.01))
    assert found.travel == 1.0


def test_margins_of_members_are_those_of_their_loops(ensembles):
    """A first-order plant without dead time under a P law: |1 + L| is least at the Nyquist frequency or at rest."""
    lag = 1e-3  # a lag far below the row: the plant is of first order
    group = PlantMembers(TWO_LAGS, np.array([[0.1, 0.05, lag, 0.0, 0.1, 0.1, 0.05, 5.0, 0.0]]))
    law, kp = loop_law(ensembles["R1"]), 4.0
    found = LoopsAtRest([group], law, np.zeros(3), np.full(3, 10.0)).margins(np.array([kp, 0.0, 0.0]))
    fade = np.exp(-0.05)
    z = np.exp(1j * np.linspace(1e-4, np.pi, 20_000))
    loop = kp * 2.0 * (1.0 - fade) / (z - fade)
    assert found.sensitivity[0, 0] == pytest.approx((1.0 / np.abs(1.0 + loop)).max(), rel=5e-3)


def test_the_scenario_is_like_the_log(ensembles):
    """A step of five, as the log's, and a load of a few hundredths; not longer than the log, not under two minutes."""
    found = default_scenario(ensembles["R1"])
    assert found.set_point == 5.0
    assert 2.0 <= found.load <= 20.0
    assert 120.0 <= found.horizon <= 600.0
    signals = found.signals(1.0)
    assert len(signals) == round(found.horizon)
    assert signals.load[0] == 0.0
    assert signals.load[-1] == found.load


@pytest.mark.parametrize("name", LOOPS)
def test_a_derivative_promises_no_less_than_none(ensembles, name):
    """To what lies between the search's forty members and all of them, and between gains of three digits."""
    loop, ensemble = LOOPS[name], ensembles[name]
    present, scenario = (loop.kp, loop.ki, 0.0), default_scenario(ensemble)
    without, found = (advise(ensemble, present, scenario, with_derivative=given) for given in (False, True))
    assert found.evaluations == 2 * without.evaluations
    assert found.promise.median > without.promise.median - 0.02
