"""A robustness map: every point is what an evaluation of its situation gives; impossible axes are refused."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID
from plants.excitation import PRBS, UniformFilter
from sscq import Situation, evaluate, standard_sets
from sscq.fitness import Fitness
from sscq.situations.situation_sets import repeated
from sscq.worst import robustness_map as maps
from sscq.worst.map_axes import map_axis, read_range
from sscq.worst.robustness_map import MapSettings, robustness_map
from tests.plants.core.gpu.emulated import on_cpu

VDP = plants.get("van_der_pol")
FAR = replace(standard_sets(VDP)["taught"][0], t_end=2.0)
GAINS = {"one": (PID(), [[6.0, 1.0, 4.0]]), "other": (PID(), [[3.0, 0.5, 2.0]])}
SETTINGS = MapSettings(Fitness(), 0.01, seeds=2)


def drawn(plant, situation, x, y, gains=GAINS, settings=SETTINGS, n=6):
    """The map over two ranges, given as (name, low, high)."""
    return robustness_map(plant, gains, situation, map_axis(plant, *x, n), map_axis(plant, *y, n), settings)


def cost_at(found, plant, situation, place, gains, settings=SETTINGS):
    """What the point at (row, column) costs, evaluated by itself."""
    placed = found.x.set_in(situation, float(found.x.values[place[1]]), plant)
    placed = found.y.set_in(placed, float(found.y.values[place[0]]), plant)
    several = [one for k in range(settings.seeds) for one in repeated([placed], k)]
    costs = [
        settings.fitness.per_situation(
            evaluate(plant, gains[0], gains[1], one, settings.step, measures=settings.fitness.measures)
        )[0, 0]
        for one in several
    ]
    return sum(costs[1:], costs[0]) / len(costs)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (("mu", 0.1, 3.0), ("delay", 0.0, 0.2)),
        (("delay", 0.0, 0.2), ("noise", 0.0, 0.1)),
        (("noise.position", 0.0, 0.1), ("initial.velocity", -0.5, 0.5)),
    ],
)
def test_every_point_is_what_its_situation_costs(x, y):
    found = drawn(VDP, FAR, x, y)
    assert found.starts == "exact"
    for k, gains in enumerate(GAINS.values()):
        for place in ((0, 0), (2, 5), (5, 3)):
            assert found.cost[k][place] == cost_at(found, VDP, FAR, place, gains)


@pytest.mark.parametrize("turned", [False, True])
def test_the_plant_s_own_dead_time_is_a_delay(turned):
    plant = plants.get("fopdt")
    situation, gains = replace(standard_sets(plant)["taught"][0], t_end=8.0), {"one": (PID(), [[1.0, 0.5, 0.0]])}
    settings = replace(SETTINGS, step=plant.step)
    ranges = (plant.input_delay, 0.2, 1.0), ("noise", 0.0, 0.05)
    found = drawn(plant, situation, *(ranges[::-1] if turned else ranges), gains, settings)
    assert found.starts == "exact"
    for place in ((0, 0), (2, 5), (5, 3)):
        assert found.cost[0][place] == cost_at(found, plant, situation, place, gains["one"], settings)


@pytest.mark.parametrize("excitation", [PRBS(0.3, hold=0.1), UniformFilter(0.3, 2.0)])
def test_seeds_begin_where_their_noise_begins(excitation):
    situation = replace(FAR, excitation=excitation)
    found = drawn(VDP, situation, ("mu", 0.1, 3.0), ("delay", 0.0, 0.2))
    assert found.starts == "exact"
    for place in ((0, 0), (2, 5)):
        assert found.cost[0][place] == cost_at(found, VDP, situation, place, GAINS["one"])


def test_points_where_the_plant_cannot_rest_are_blank():
    plant = plants.get("heater")
    situation = replace(standard_sets(plant)["taught"][0], t_end=20.0)
    gains, settings = {"one": (PID(), [[1.0, 0.01, 0.0] * 2])}, replace(SETTINGS, step=plant.step, seeds=1)
    controller = {"one": (tuple(PID() for _ in plant.channels), gains["one"][1])}
    found = drawn(plant, situation, ("heater 1", 0.001, 0.02), ("ambient", 288.0, 300.0), controller, settings, n=4)
    blank = np.isnan(found.cost[0])
    assert found.starts == "in full"
    assert blank[:, 0].all()  # a heater ten times too weak
    assert not blank[:, -1].any()
    with pytest.raises(ValueError, match="cannot start or rest anywhere on the map's edges"):
        drawn(plant, situation, ("heater 1", 0.001, 0.002), ("ambient", 288.0, 300.0), controller, settings, n=4)


def test_a_loss_at_rest_is_found_by_splines_or_in_full():
    plant = plants.get("two_tanks")
    situation = replace(standard_sets(plant)["taught"][0], t_end=40.0)
    gains, settings = {"one": (PID(), [[170.0, 7.0, 600.0]])}, replace(SETTINGS, step=plant.step)
    ranges = ("pump", 3.0e-6, 3.6e-6), ("lower hole", 1.3e-5, 1.7e-5)
    one = drawn(plant, situation, *ranges, gains, settings, n=20)
    both = drawn(plant, situation, ("upper hole", 1.7e-5, 2.2e-5), ranges[1], gains, settings, n=20)
    for found, place in ((one, (11, 7)), (both, (3, 16))):
        assert found.starts == "close"
        wanted = cost_at(found, plant, situation, place, gains["one"], settings)
        assert found.cost[0][place] == pytest.approx(wanted, rel=1e-4)
    assert drawn(plant, situation, ("upper hole", 1.7e-5, 2.2e-5), ranges[1], gains, settings).starts == "in full"


def test_lost_loops_are_counted_and_cost_their_penalty():
    plant = plants.get("magnetic_levitation")
    found = drawn(
        plant, replace(Situation("fall"), t_end=1.0), ("mass", 0.04, 0.06), ("delay", 0.0, 0.01),
        {"none": (PID(), [[0.0, 0.0, 0.0]])}, replace(SETTINGS, step=plant.step),
    )  # fmt: skip
    assert (found.lost == 1.0).any()
    assert (found.cost[found.lost == 1.0] >= SETTINGS.fitness.diverged).all()


def test_a_gpu_gives_the_same_map(monkeypatch):
    monkeypatch.setattr(maps, "on_gpu", on_cpu)
    ranges = ("mu", 0.1, 3.0), ("delay", 0.0, 0.2)
    still = replace(FAR, excitation=0.0, noise=0.0)
    on_gpu = drawn(VDP, still, *ranges, settings=replace(SETTINGS, device="cuda"))
    assert np.array_equal(on_gpu.cost, drawn(VDP, still, *ranges).cost)


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (("dellay", 0.0, 1.0), r"no quantity of plant 'van_der_pol' for a map 'dellay'; did you mean 'delay'\?"),
        (("mu", 3.0, 0.1), r"mu: a range has a lower and a higher finite end, got \[3, 0.1\]"),
        (("mu", 0.0, float("inf")), "a lower and a higher finite end"),
        (("mu", -1e9, 1.0), r"mu: \[-1e\+09, 1\] leaves the plant's range of it"),
        (("delay", -0.1, 0.1), "delay: at least 0, got -0.1"),
        (("noise.velocity", -0.1, 0.1), r"noise.velocity: \[-0.1, 0.1\] leaves"),
        (("reference.position", 0.0, 1.0), "no group of quantities of a map 'reference'"),
    ],
)
def test_axes_that_do_not_fit_are_refused(axis, message):
    with pytest.raises(ValueError, match=message):
        map_axis(VDP, *axis, 5)


def test_two_delays_or_one_quantity_twice_are_refused():
    for ranges in (
        (("mu", 0.5, 1.0), ("mu", 0.5, 2.0)),
        (("delay", 0.0, 0.1), ("output_delay", 0.0, 0.1)),
        (("noise.position", 0.0, 0.1), ("noise", 0.0, 0.1)),
    ):
        with pytest.raises(ValueError, match="two quantities, at most one of them a delay"):
            drawn(VDP, FAR, *ranges)
    with pytest.raises(ValueError, match="at least 2 points in each direction, got 1"):
        map_axis(VDP, "mu", 0.0, 1.0, 1)


def test_ranges_are_read_as_they_are_written():
    assert read_range("mu:[0.1,3]") == ("mu", 0.1, 3.0)
    assert read_range(" lower hole : [ 1e-5, 2e-5 ]") == ("lower hole", 1e-5, 2e-5)
    for text in ("mu", "mu=0.1,3", "mu:[0.1]", "mu:[0.1,3,4]", ":[0,1]"):
        with pytest.raises(ValueError, match=r"written name:\[low,high\], such as mu:\[0.1,3\]"):
            read_range(text)
    with pytest.raises(ValueError, match=r"the ends of a range are numbers, got \[a, 3\]"):
        read_range("mu:[a,3]")
