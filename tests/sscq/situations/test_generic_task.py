"""The control task that is made for a plant without one of its own."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
from controllers import PID
from plants import Channel, OperatingPoint, OperatingRanges, Plant, Quantity
from plants.core.elementary import sin
from plants.excitation import WhiteNoise
from sscq.loop.spec import LoopSpec
from sscq.situations.generic_task import USUAL_HORIZON, generic_task, horizon
from sscq.situations.situation_sets import KINDS, standard_sets, varied
from sscq.worst.envelope import usual_envelope

PENDULUM = Plant(
    name="pendulum",
    states=(Quantity("angle", "rad", 0.1, -6.0, 6.0), Quantity("speed", "rad/s")),
    parameters=(Quantity("damping", "N m s", 0.5), Quantity("grip", "1", 1.0, 0.0, 1.0)),
    inputs=(Quantity("torque", "N m"),),
    disturbances=(Quantity("gust", "N m", 0.3), Quantity("knock", "N m")),
    channels=(Channel(output="angle", rate="speed", low=-12.0, high=12.0),),
    operating_points=(OperatingPoint("rest", (0.0, 0.0)),),
    derivative=lambda t, x, u, w, p: (x[1], u[0] + w[0] + w[1] - p[0] * x[1] - p[1] * 9.81 * sin(x[0])),
)


def tank(bound=2.0, speed=1.0, **more):
    """A tank with outflow in proportion to its level: a pole at -speed."""
    return Plant(
        name="tank",
        states=(Quantity("level", "m", 0.5, 0.0, bound),),
        inputs=(Quantity("inflow", "m/s"),),
        channels=(Channel(output="level", **more),),
        derivative=lambda t, x, u, w, p: (u[0] - speed * x[0],),
    )


def of_kind(plant, kind):
    return {situation["name"]: situation for situation in generic_task(plant)[kind]}


def test_every_kind_has_situations_of_its_own_and_all_can_be_run():
    for plant in (PENDULUM, tank(), *(replace(plants.get(n), situations={}) for n in plants.names(tasks=True))):
        sets = standard_sets(plant)
        names = [s.name for kind in KINDS for s in sets[kind]]
        assert len(set(names)) == len(names)
        assert min(len(sets[kind]) for kind in KINDS) >= 2
        seeds = [s.seed for kind in KINDS for s in sets[kind]]
        assert len(set(seeds)) == len(seeds)
        LoopSpec(plant, PID(), [s for kind in KINDS for s in sets[kind]], sets["taught"][0].t_end / 1000.0)


def test_nothing_unforeseen_is_taught():
    for plant in (PENDULUM, tank()):
        task = generic_task(plant)
        known = [{**s, "name": "", "seed": 0} for s in task["taught"]]
        assert not any({**s, "name": "", "seed": 0} in known for s in task["unforeseen"])


def test_noise_is_made_of_the_disturbances_whose_size_is_known():
    assert of_kind(PENDULUM, "taught")["step"]["excitation"] == {"gust": WhiteNoise(0.3**2, hold=0.1)}
    assert of_kind(PENDULUM, "unforeseen")["doubled noise"]["excitation"]["gust"].variance == pytest.approx(2 * 0.09)
    assert "doubled noise" not in of_kind(tank(), "unforeseen")


def test_steps_are_as_large_as_the_channels_scale_says():
    steps = of_kind(PENDULUM, "taught")
    assert [steps[name]["reference"]["angle"] for name in ("step", "opposite step", "small step")] == [1.0, -1.0, 0.3]
    back = steps["return"]
    assert (back["reference"], back["initial"]) == ({"angle": 0.0}, {"angle": -0.8, "speed": 0.0})
    assert of_kind(PENDULUM, "unforeseen")["far step"]["reference"] == {"angle": 1.6}


def test_steps_become_smaller_where_the_command_could_not_hold_them():
    # a torque of 4 holds asin(4 / 9.81) = 0.42 rad: of 1.6 rad a share of 0.2; downwards there is torque enough
    weak = replace(PENDULUM, channels=(replace(PENDULUM.channels[0], low=-12.0, high=4.0),))
    assert of_kind(weak, "unforeseen")["far step"]["reference"]["angle"] == pytest.approx(0.2 * 1.6)
    assert of_kind(weak, "taught")["step"]["reference"]["angle"] == pytest.approx(0.2)
    assert of_kind(weak, "taught")["opposite step"]["reference"]["angle"] == pytest.approx(-1.0)


def test_steps_stay_inside_the_outputs_bounds():
    levels = [of_kind(tank(), "taught")[name]["reference"]["level"] for name in ("step", "opposite step")]
    # the level at rest is 0.5, the room 1.5 above and 0.5 below: 0.8 of it is for the farthest step of 1.6 scales
    assert levels == pytest.approx([0.5 + 0.8 * 1.5 / 1.6, 0.5 - 0.8 * 0.5 / 1.6])


def test_without_room_on_one_side_steps_go_to_the_other():
    empty = tank(low=0.0)
    empty = replace(empty, states=(replace(empty.states[0], nominal=0.0),), measurements=())
    steps = [s["reference"]["level"] for kind in KINDS for s in generic_task(empty)[kind] if "step" in s["name"]]
    assert min(steps) > 0.0
    assert len(set(steps)) == len(steps)


def test_plants_that_change_stay_within_their_parameters_bounds():
    first, second = (of_kind(PENDULUM, "unforeseen")[f"changed plant {k}"]["parameters"] for k in (1, 2))
    assert first == pytest.approx({"damping": 0.6, "grip": 0.8})
    assert second == pytest.approx({"damping": 0.4, "grip": 1.0})  # 1.2 would be outside
    plain = replace(PENDULUM, channels=PENDULUM.channels)
    drawn = varied(plain, standard_sets(plain)["taught"], 0.5, 8, seed=1)
    assert max(s.parameters["grip"] for s in drawn) == 1.0
    assert len({s.parameters["damping"] for s in drawn}) == 8
    assert all(0.25 <= s.parameters["damping"] <= 0.75 for s in drawn)
    assert "changed plant 1" not in of_kind(tank(), "unforeseen")  # it has no parameters


RANGED = replace(
    PENDULUM,
    ranges=OperatingRanges(
        parameters={"damping": (0.1, 0.52)},
        reference={"angle": (-0.5, 0.25)},
        initial={"angle": (-0.1, 0.1)},
        excitation={"gust": (0.0, 0.35)},
        delay=(0.0, 0.03),
    ),
)


def test_nothing_leaves_the_ranges_that_a_plant_declares():
    sets = {kind: generic_task(RANGED)[kind] for kind in KINDS}
    angles = {s["name"]: s["reference"]["angle"] for kind in KINDS for s in sets[kind]}
    assert (min(angles.values()), max(angles.values())) == pytest.approx((-0.5, 0.25))
    assert angles["far step"] == pytest.approx(0.25)  # as far as the range goes
    assert of_kind(RANGED, "taught")["return"]["initial"]["angle"] == pytest.approx(-0.1)
    assert of_kind(RANGED, "unforeseen")["doubled noise"]["excitation"]["gust"].variance == pytest.approx(0.35**2)
    assert of_kind(RANGED, "unforeseen")["delayed command"]["delay"] == 0.03
    changed = [of_kind(RANGED, "unforeseen")[f"changed plant {k}"]["parameters"] for k in (1, 2)]
    assert changed == [{"damping": pytest.approx(0.52)}, {"damping": pytest.approx(0.4)}]
    assert usual_envelope(RANGED, held=[s for kind in standard_sets(RANGED).values() for s in kind]) == usual_envelope(
        RANGED
    )


def test_what_a_plant_declares_to_stand_still_stands_still():
    still = replace(
        PENDULUM,
        ranges=OperatingRanges(
            parameters={}, initial={}, excitation={}, delay=(0.0, 0.0), reference={"angle": (1.0, 2.0)}
        ),
    )
    names = [s["name"] for s in generic_task(still)["unforeseen"]]
    assert not {"doubled noise", "delayed command", "changed plant 1"} & set(names)
    taught = generic_task(still)["taught"]
    assert all("initial" not in s and not s["excitation"] for s in taught)
    assert all(1.0 <= s["reference"]["angle"] <= 2.0 for s in taught)  # though it rests at 0


def test_what_narrow_ranges_make_equal_to_what_is_taught_is_not_unforeseen():
    narrow = OperatingRanges(reference={"angle": (0.5, 0.5)}, initial={"angle": (0.0, 0.0)})
    sets = generic_task(replace(PENDULUM, ranges=narrow))
    assert {s["reference"]["angle"] for kind in KINDS for s in sets[kind]} == {0.5}
    assert [s["name"] for s in sets["unforeseen"]] == [
        "doubled noise",
        "delayed command",
        "changed plant 1",
        "changed plant 2",
    ]


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 20.0), (3.0, 10.0), (0.01, 2000.0), (400.0, 0.1)])
def test_the_horizon_follows_the_plants_slowest_mode(speed, expected):
    assert of_kind(tank(speed=speed), "taught")["step"]["t_end"] == expected


@given(st.lists(st.floats(1e-4, 1e4), min_size=1, max_size=4), st.floats(0.0, 10.0))
def test_a_horizon_is_a_round_number_near_thirty_time_constants(speeds, dead_time):
    found = horizon([-speed for speed in speeds], dead_time)
    visible = [s for s in speeds if s > 1e-6 * max(speeds)]
    wanted = 30.0 * (1.0 / min(visible) + dead_time)
    assert wanted / 1.6 <= found <= 1.6 * wanted  # the largest gap, 2 to 5, is a factor of 2.5 = 1.58^2
    assert f"{found:e}"[0] in "125"
    assert f"{found:.0e}" == f"{found:.9e}".replace(".000000000", "")


def test_integrators_say_nothing_about_the_horizon():
    assert horizon([0.0, 0.0]) == USUAL_HORIZON
    assert horizon([]) == USUAL_HORIZON
    assert horizon([0.0, -3.0]) == horizon([-3.0])


def test_a_plant_without_channels_has_no_task():
    with pytest.raises(ValueError, match="plant 'tank' has no control channels"):
        generic_task(replace(tank(), channels=()))
