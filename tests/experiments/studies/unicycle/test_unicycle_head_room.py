"""The search for the largest region: what its genomes mean, and its measure of a region on falls that are known."""

from types import SimpleNamespace

import numpy as np
import pytest

import sscq
from experiments.studies.unicycle.contenders import MEASURED, UnicycleLqr
from experiments.studies.unicycle.contenders import NODES as LQR_NODES
from experiments.studies.unicycle.head_room import _SEARCHED as GRID
from experiments.studies.unicycle.head_room import (
    CONSTANT,
    FROM_WEIGHTS,
    NODES,
    OVER_SPEED,
    LargestRegion,
    Regions,
    cells,
    conclusion,
    page,
)
from experiments.studies.unicycle.pushes import Condition

RIDES = [Condition(1.0, 0.0, 0.4), Condition(2.0, 0.0, 0.4)]


def test_genomes_stand_for_the_free_gains_of_each_node():
    """Pitch has no integral; speed, yaw rate and turntable rate have no more than their kp."""
    genome = np.arange(1.0, 9.0)
    expected = [1.0, 0.0, 2.0, 3.0, 4.0, 5.0, *(6.0, 0.0, 0.0), *(7.0, 0.0, 0.0), *(8.0, 0.0, 0.0)]
    assert CONSTANT.theta(genome[None])[0].tolist() == expected
    nodes = OVER_SPEED.theta(OVER_SPEED.turned(genome)[None]).reshape(len(NODES), -1)
    for speed, gains in zip(NODES, nodes, strict=True):
        assert gains[[3, 5]] == pytest.approx(np.sign(speed) * np.array([3.0, 5.0]))  # roll is steered the other way
        assert gains[[0, 2, 4, 6, 9, 12]] == pytest.approx([1.0, 2.0, 4.0, 6.0, 7.0, 8.0])
    assert OVER_SPEED.controller.n_theta == nodes.size


@pytest.fixture
def falls(monkeypatch):
    """Every ride falls from a given size on, at a given time; loads are given."""
    told = SimpleNamespace(size=1e9, at=3.0, load=0.5)

    def evaluate(plant, controller, theta, situations, step, *, measures, threads):
        sizes = np.tile(GRID.steps, len(situations) // GRID.sizes)
        fell = np.where(sizes >= told.size, told.at, np.nan)
        shape = (len(situations), len(theta))
        values = {"motor_load": np.full(shape, told.load)}
        return SimpleNamespace(diverged_at=np.broadcast_to(fell[:, None], shape).copy(), until_lost=values)

    monkeypatch.setattr(sscq, "evaluate", evaluate)
    return told


def test_a_region_is_a_share_of_the_disc(falls):
    """All stand: all of it. From the fourth size on they fall half-way: 3.25 of 7 sizes squared."""
    regions = Regions(CONSTANT, RIDES)
    genome = CONSTANT.start()
    assert regions(genome) == pytest.approx([-1.0])
    falls.size = GRID.steps[3] - 1.0
    assert regions(genome) == pytest.approx([-((3.25 / 7.0) ** 2)])
    falls.at = 6.0  # later: a little larger
    assert regions(genome) == pytest.approx([-((3.5 / 7.0) ** 2)])


def test_weights_stand_for_lqrs_feedback_at_its_nodes():
    """Roll's gain changes its sign with the speed, pitch's does not; where there is no feedback there are no gains."""
    genome = FROM_WEIGHTS.start()[:1]
    gains = FROM_WEIGHTS.theta(np.vstack([genome, [[np.nan] * 5]])).reshape(2, len(LQR_NODES), -1)
    lqr = UnicycleLqr(((-12.5, 12.5), (-12.0, 12.0)), 0.01, scheduled=True).theta(genome)[0].reshape(len(LQR_NODES), -1)
    assert gains[0, :, 0] == pytest.approx(lqr[:, MEASURED.index("pitch")])
    assert gains[0, :, 5] == pytest.approx(lqr[:, len(MEASURED) + MEASURED.index("roll_rate")])
    assert np.all(gains[0, :, 3] * np.sign(LQR_NODES) > 0.0)
    assert np.all(gains[0, :, 0] > 0.0)
    assert not gains[1].any()


def test_motors_that_bear_less_cost(falls):
    """Half as much again as is allowed: once the disc; what is allowed costs nothing."""
    genome = CONSTANT.start()
    assert Regions(CONSTANT, RIDES, 0.5)(genome) == pytest.approx([-1.0])
    assert Regions(CONSTANT, RIDES, 1.0 / 3.0)(genome) == pytest.approx([0.0])


def test_the_page_sets_every_structure_against_the_first():
    """Twice the area is +100 %, whatever rides are resampled; the first has no change."""
    one = LargestRegion(CONSTANT, np.zeros(8), np.full(8, 1e5), np.full(8, 2e5), 0.8)
    other = LargestRegion(OVER_SPEED, np.zeros(40), np.full(8, 2e5), np.full(8, 2e5), 0.3)
    assert cells(one, one)[2] == ""
    assert cells(other, one)[2] == "+100.0 % [+100.0, +100.0]"
    text = page({None: [one, other], 0.25: [one, other]}, 600, 4)
    assert conclusion({None: [one, other]}) in page({None: [one, other]}, 600, 4)
    left = 100.0 * (np.pi * 340.0**2 / 1e5 - 1.0)  # the disc is all there is
    assert (
        f"gains over the speed, +100.0 % [+100.0, +100.0] of constant gains' region up to 340 N, of {left:+.1f} %"
        in text
    )
    assert "Motors that bear anything" in text
    assert "Motor load of at most 0.25" in text
