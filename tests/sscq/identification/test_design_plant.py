"""Plants of a log as one plant of the design chain: its members, both senses, what is refused, and its answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import Step
from plants.identification.oscillating import OSCILLATING
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.design_plant import design_plant
from sscq.identification.ensemble import PlantMembers
from sscq.identification.loops import ScenarioSignals, run_loops
from sscq.identification.promise import LoopScenario
from sscq.identification.stored import StoredEnsemble, StoredLoop

LOOP = StoredLoop((50.0, 40.0), (0.0, 100.0), 1.0, (0.5, 0.02, 0.0), LoopScenario(200.0, 4.0, 2.0))
RNG = np.random.default_rng(3)
ROWS = np.exp(0.1 * RNG.standard_normal((40, 9))) * [0.05, 0.03, 8.0, 6.0, 0.2, 0.1, 0.05, 5.0, 0.02]


def ensemble(rows=ROWS, structure=TWO_LAGS, **more):
    return StoredEnsemble((PlantMembers(structure, rows),), 1.0, 1.0, 0.0, "", LOOP, **more)


def test_members_belong_together_and_keep_their_bounds():
    plant = design_plant(ensemble())
    sets = plant.ranges.together
    assert [one["slope"] for one in sets] == ROWS[:, 0].tolist()
    assert [one["L"] for one in sets] == pytest.approx(ROWS[:, 3].tolist(), rel=1e-12)
    assert (plant.channels[0].low, plant.channels[0].high) == (-40.0, 60.0)
    assert {q.name: q.nominal for q in plant.parameters} in [dict(one) for one in sets]
    assert plants.check(plant).ok


def test_a_plant_that_answers_the_other_way_has_negative_gains():
    plant = design_plant(replace(ensemble(), sense=-1.0))
    assert all(one["slope"] < 0.0 for one in plant.ranges.together)
    assert plant.channels[0].opposed
    assert plants.check(plant).ok


def test_lags_that_rows_cannot_tell_are_dead_time():
    rows = ROWS.copy()
    rows[:, 2] = 0.01
    sets = design_plant(ensemble(rows)).ranges.together
    assert {one["lag"] for one in sets} == {0.3}
    assert [one["L"] + one["lag"] for one in sets] == pytest.approx((rows[:, 3] + rows[:, 2]).tolist(), rel=1e-12)


@pytest.mark.parametrize("structure", [TWO_LAGS, OSCILLATING])
def test_its_loops_are_those_of_the_promise(structure):
    """The same law on the same members, once in exact steps and once by the engine's Runge-Kutta, without noise.

    Both hold the output of a row; the engine delays by parts of a row, and integrates the error between rows, so that
    integrals differ by a part of a row's change.
    """
    rows = ROWS[:8].copy()
    if structure is OSCILLATING:
        rows[:, 0], rows[:, 1] = 1.5, 0.5
    plant = design_plant(ensemble(rows, structure))
    law = PID(limits=(-40.0, 60.0), sample_time=1.0, rate_source="difference", derivative_on="measurement")
    n = 200
    load = np.where(np.arange(n) >= n // 2, 2.0, 0.0)
    exact = run_loops(
        [PlantMembers(structure, rows)],
        1.0,
        law,
        np.array([0.5, 0.02, 0.0]),
        ScenarioSignals(1.0, np.full(n, 4.0), load, None),
    )
    several = [
        sscq.Situation(name="x", reference=54.0, excitation=Step(2.0, at=100.0), t_end=200.0, parameters=one)
        for one in plant.ranges.together
    ]
    found = sscq.evaluate(plant, law, [0.5, 0.02, 0.0], several, plant.step, measures=("iae",))
    scale = plant.channels[0].scale  # the engine counts errors in it
    assert scale * found["iae"][:, 0] == pytest.approx(exact.error[0], rel=0.02)


def test_what_follows_from_nothing_is_refused():
    with pytest.raises(ValueError, match="no controller follows from this log: too quiet"):
        design_plant(replace(ensemble(), refusal="too quiet"))
    with pytest.raises(ValueError, match="says nothing of the loop"):
        design_plant(replace(ensemble(), loop=None))


def test_members_of_the_other_structure_are_counted():
    both = replace(ensemble(), members=(*ensemble().members, PlantMembers(OSCILLATING, ROWS[:10])))
    assert "The 80 % of the plants (two lags) that explain a log" in design_plant(both).text
    assert len(design_plant(both).ranges.together) == len(ROWS)
