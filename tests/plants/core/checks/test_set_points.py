"""Set points that no command holds are told before anything is searched, and only these."""

from dataclasses import replace

import pytest

import plants
from plants import Channel, OperatingRanges, Quantity
from tests.plants.core.checks.test_check import SOUND

AT_REST = ("declared references are held inside the limits of the commands: position",)


def told(plant):
    report = plants.check(plant)
    assert report.ok, str(report)
    return [line for line in (*report.advice, *report.passed) if line.startswith("declared reference")]


def ranges(**given):
    """40 N at 8 N/m hold the mass up to 5 m."""
    return replace(SOUND, ranges=OperatingRanges(**given))


def test_what_the_spring_lets_the_force_reach_is_held():
    assert told(ranges(reference={"position": (-4.9, 4.9)})) == list(AT_REST)
    assert told(ranges(parameters={"stiffness": (6.0, 9.0)})) == []  # no reference is declared


def test_a_set_point_beyond_the_force_is_told_with_the_last_that_is_held():
    """The way from the operating point at 1 m is halved down to a 256th of it."""
    (line,) = told(ranges(reference={"position": (-1.0, 6.0)}))
    assert line.startswith("declared reference position = 6 m is not held inside the limits of the commands")
    assert 4.9 < float(line.split("states: ")[1].split(" m is")[0]) <= 5.0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"parameters": {"stiffness": (6.0, 12.0)}}, " with stiffness = 12 "),  # 40 / 12 = 3.3 m
        ({"load": {"wind": (-10.0, 2.0)}}, " with a load wind = -10 "),  # 30 / 8 = 3.75 m
    ],
)
def test_so_is_one_that_only_some_parameters_or_loads_put_out_of_reach(more, words):
    (line,) = told(ranges(reference={"position": (0.0, 4.0)}, **more))
    assert line.startswith(f"declared reference position = 4 m{words}is not held")


def test_nothing_is_said_of_a_speed_whose_place_runs_away():
    plant = replace(
        SOUND,
        derivative=lambda t, x, u, w, p: (x[1], (u[0] + w[0] - p[1] * x[1]) / p[0]),
        energy=None,
        channels=(Channel("speed", low=-40.0, high=40.0),),
        operating_points=(plants.OperatingPoint("still", (0.0, 0.0)),),
        ranges=OperatingRanges(reference={"speed": (-1.0, 1.0)}),
    )
    assert told(plant) == []


def test_bounds_of_the_states_count_as_well():
    """The measurement may go to 10 m, the state to 3 m."""
    narrow = (Quantity("position", "m", 0.0, -10.0, 3.0), SOUND.states[1])
    measured = (Quantity("position", "m", 0.0, -10.0, 10.0), Quantity("speed", "m/s"))
    plant = replace(
        ranges(reference={"position": (0.0, 4.0)}),
        states=narrow,
        measurements=measured,
        outputs=lambda t, x, u, w, p: x,
    )
    (line,) = told(plant)
    assert 2.9 < float(line.split("states: ")[1].split(" m is")[0]) <= 3.0
