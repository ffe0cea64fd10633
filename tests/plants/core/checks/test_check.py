"""The check accepts a sound plant and tells the author of an unsound one exactly what is wrong."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.core.blocks import BlockSample
from plants.core.checks import loop, motion
from plants.core.checks.report import CheckReport
from plants.core.elementary import exp, maximum, sign, sqrt, table1d, where

INERTIA = plants.get("nonlinear_inertia")


def derivative(t, x, u, w, p):
    q, v = x
    return v, (u[0] + w[0] - p[1] * v - p[2] * q) / p[0]


def energy(t, x, u, w, p):
    return 0.5 * (p[0] * x[1] * x[1] + p[2] * x[0] * x[0])


def supplied_power(t, x, u, w, p):
    return (u[0] + w[0]) * x[1]


def entropy_rate(t, x, u, w, p):
    return p[1] * x[1] * x[1]


SOUND = Plant(
    name="spring_and_mass",
    states=(Quantity("position", "m", 0.0, -10.0, 10.0), Quantity("speed", "m/s", 0.0, -50.0, 50.0)),
    parameters=(Quantity("mass", "kg", 2.0), Quantity("damping", "N s/m", 0.4), Quantity("stiffness", "N/m", 8.0)),
    inputs=(Quantity("force", "N"),),
    disturbances=(Quantity("wind", "N"),),
    channels=(Channel("position", "speed", low=-40.0, high=40.0),),
    derivative=derivative,
    energy=energy,
    supplied_power=supplied_power,
    entropy_rate=entropy_rate,
    operating_points=(OperatingPoint("out", (1.0, 0.0)),),
    text="A mass on a spring.",
)


def test_a_sound_plant_is_accepted_with_the_numbers():
    report = plants.check(SOUND)
    assert report.ok
    assert report.problems == []
    text = str(report)
    assert text.startswith("plant 'spring_and_mass' keeps its contract\n")
    for told in ("all blocks can be compiled", "finite, and equal as plain Python", "converges with order",
                 "energy balance closes", "1 operating points are equilibria"):  # fmt: skip
        assert any(told in line for line in report.passed), told
    ranges, advice = report.advice
    assert ranges.startswith("neither situations nor ranges are declared")
    # Its modes have |lambda| = sqrt(8 / 2) = 2 1/s.
    assert "step: 0.05 s is accurate with rk4, up to 0.2 s usable, unstable beyond 1.39 s (fastest mode 2 1/s" in advice
    assert report.step == 0.05
    assert report.loop_gain is None


GAINS = {"gain": 2.0}


def asks(t, x, u, w, p):
    if x[0] > 0.0:
        return x[1], GAINS["gain"] * u[0]
    return x[1], -u[0]


def unpacks_three(t, x, u, w, p):
    _q, v, a = x
    return v, a


def fails(t, x, u, w, p):
    return x[1], u[0] * {}["gain"]


counter = itertools.count()


def counts(t, x, u, w, p):
    return x[1], u[0] * next(counter)


def draws(t, x, u, w, p):
    return x[1], u[0] * random.random()


def line_of(block, offset):
    return f"{__file__}:{block.__code__.co_firstlineno + offset} in {block.__name__}"


FAULTS = [
    (
        {"derivative": asks},
        "derivative: "
        + line_of(asks, 1)
        + ": comparison of a traced number; use where(x[0], a, b) instead of if x[0] > 0.0, "
        "with a and b what its two branches compute: it gives its second number where the first is > 0, else the third; "
        "numba does not compile derivative of plant 'spring_and_mass' as it "
        "stands, either: GAINS is a dict, not numbers or a table",
    ),
    (
        {"derivative": unpacks_three},
        "derivative: " + line_of(unpacks_three, 1) + ": ValueError: not enough values to unpack (expected 3, got 2); "
        "the block is called as (t, x, u, w, p) with x of 2 (position, speed), u of 1 (force), w of 1 (wind), p of 3 (mass, damping, stiffness)",
    ),
    ({"derivative": fails}, line_of(fails, 1) + ": KeyError: 'gain'"),
    (
        {"derivative": lambda t, x, u, p: x},
        "takes 4 positional arguments but 5 were given; the block is called as (t, x, u, w, p)",
    ),
    (
        {"derivative": lambda t, x, u, w, p: (x[1],)},
        "derivative must return 2 (one rate per state (position, speed)), got 1",
    ),
    ({"derivative": lambda t, x, u, w, p: "text"}, "must return a number or a tuple of numbers, got str"),
    (
        {"outputs": lambda t, x, u, w, p: (x[0],)},
        "outputs must return 2 (one number per measurement (position, speed)), got 1",
    ),
    ({"energy": lambda t, x, u, w, p: (x[0],)}, "energy must return a number, got a tuple of 1"),
    ({"derivative": counts}, "as plain Python (number 1): a block must depend on its arguments alone"),
    ({"derivative": draws}, "a block must depend on its arguments alone, without random numbers"),
    (
        {"derivative": lambda t, x, u, w, p: (x[1], sqrt(x[0] + 5.0))},
        "derivative is not finite inside the bounds, at position = -",
    ),
    (
        {"derivative": lambda t, x, u, w, p: (x[1], u[0] / x[0])},
        "derivative is not finite at the nominal initial state",
    ),
    (
        {"outputs": lambda t, x, u, w, p: (x[0] + 0.1 * u[0], x[1])},
        "the measured output 'position' depends on an input: the command would be computed from itself",
    ),
    ({"energy": lambda t, x, u, w, p: x[0] * u[0]}, "energy depends on an input or a disturbance"),
    ({"allocate": lambda t, x, c, p: (c[0], c[0])}, "allocate must return 1 (one number per input (force)), got 2"),
    ({"operating_points": (OperatingPoint("moving", (1.0, 2.0)),)}, "operating point 'moving': no input holds"),
    ({"operating_points": (OperatingPoint("short", (1.0,)),)}, "operating point 'short': states of plant"),
    (
        {"states": (Quantity("position", "m", 0.0, 0.0, 10.0), SOUND.states[1])},
        "the initial value 0 of state 'position' must lie inside its bounds (0, 10), or every rollout ends",
    ),
    (
        {"parameters": (Quantity("mass", "kg", -2.0, 0.0), *SOUND.parameters[1:])},
        "the nominal value -2 of parameter 'mass' is outside",
    ),
    (
        {"parameters": (Quantity("mass", "kg", np.nan), *SOUND.parameters[1:])},
        "parameter 'mass' must have a finite nominal value",
    ),
    ({"inputs": (Quantity("force", "N", 0.0, 1.0, -1.0),)}, "input 'force' must have low < high, got 1 and -1"),
    (
        {"inputs": (Quantity(" force", "N"),)},
        "names of inputs must not be empty or have spaces around them, got ' force'",
    ),
    (
        {"inputs": (Quantity("position.", "N"),), "measurements": (*SOUND.states, Quantity("position_", "m"))},
        "measurements and inputs must differ in letters and digits, or no export can name them: 'position.' and 'position_'",
    ),
    ({"channels": (Channel("position", "speed", scale=0.0),)}, "the scale of channel 'position' must be positive"),
]


@pytest.mark.parametrize(("changes", "told"), FAULTS, ids=[told[:40] for _, told in FAULTS])
def test_faults_are_told(changes, told):
    report = plants.check(replace(SOUND, **changes))
    assert not report.ok
    assert any(told in problem for problem in report.problems), report.problems


def test_all_faulty_blocks_are_told_at_once():
    report = plants.check(replace(SOUND, derivative=asks, energy=unpacks_three, entropy_rate=fails))
    assert [problem.split(":")[0] for problem in report.problems] == ["derivative", "energy", "entropy_rate"]
    assert "has 3 problems" in str(report)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"entropy_rate": lambda t, x, u, w, p: -entropy_rate(t, x, u, w, p)},
            "It would close with supplied_power times 1 and entropy_rate times -1",
        ),
        (
            {"supplied_power": lambda t, x, u, w, p: 2.0 * supplied_power(t, x, u, w, p)},
            "It would close with supplied_power times 0.5 and entropy_rate times 1",
        ),
        (
            {"energy": lambda t, x, u, w, p: 0.5 * p[0] * x[1] * x[1]},
            "Look for a force that is missing from, or counted twice in, one of the three blocks",
        ),
    ],
    ids=["sign", "factor", "term"],
)
def test_an_energy_balance_that_does_not_close_is_a_problem_with_a_diagnosis(changes, told):
    faulty = replace(SOUND, **changes)
    assert told in motion._diagnosis(faulty, BlockSample.draw(faulty, 64, np.random.default_rng(0)))
    if "entropy_rate" in changes:  # the whole way once: it compiles
        (problem,) = plants.check(faulty).problems
        assert problem.startswith("the energy balance does not close: ")
        assert told in problem


def test_equations_that_are_not_smooth_are_told_but_accepted():
    dry = replace(
        SOUND,
        derivative=lambda t, x, u, w, p: (x[1], derivative(t, x, u, w, p)[1] - 2.0 * sign(x[1])),
        entropy_rate=None,
    )
    report = plants.check(dry)
    assert report.ok, str(report)
    assert any("rk4 converges with order" in line and "not smooth" in line for line in report.advice)
    assert any("no entropy_rate(t, x, u, w, p): its entropy production counts as 0" in line for line in report.advice)


@pytest.mark.parametrize("dead", [0.317, 1.0])
def test_a_dead_time_is_not_taken_for_equations_that_are_not_smooth(dead):
    """Tested inputs that arrive late begin with a jump, mostly between two steps: rk4 had order 1 then."""
    report = plants.check(replace(plants.get("fopdt"), parameters=(
        *plants.get("fopdt").parameters[:2], Quantity("L", "s", dead, 0.0)
    ), ranges=plants.OperatingRanges()))  # fmt: skip
    assert not any("not smooth" in line for line in report.advice)
    assert any("converges with order" in line for line in report.passed)


def test_a_plant_that_falls_out_of_its_region_is_tested_inside_it():
    falling = replace(
        SOUND, derivative=lambda t, x, u, w, p: (x[1], 9.0 * x[0] + u[0] + w[0]), energy=None, operating_points=(),
        states=(Quantity("position", "m", 0.1, -1.0, 1.0), SOUND.states[1]),
    )  # fmt: skip
    report = plants.check(falling)
    assert report.ok, str(report)
    assert any("without control: plant 'spring_and_mass' left the region" in line for line in report.advice)
    assert any("converges with order" in line for line in report.passed)


def test_a_plant_that_overflows_at_once_is_told_as_untested():
    burst = replace(
        SOUND,
        derivative=lambda t, x, u, w, p: (x[1], exp(1e3 * (1.0 + maximum(x[0], 0.0)) - 900.0)),
        operating_points=(),
        states=(Quantity("position", "m", -9.9, -10.0, -9.0), SOUND.states[1]),
        energy=None,
    )
    report = plants.check(burst)
    assert any("its motion was not tested" in line for line in report.advice), str(report)


def test_a_loss_at_rest_that_is_not_declared_is_advice():
    lossy = replace(SOUND, entropy_rate=lambda t, x, u, w, p: entropy_rate(t, x, u, w, p) + 0.5 * u[0] * u[0])
    told = "operating point 'out' loses 32 W at rest: say loses_at_rest=True"  # it is held by 8 N: 0.5 * 64
    assert any(told in line for line in plants.check(lossy).advice)
    for quiet in (SOUND, replace(lossy, loses_at_rest=True)):
        assert not any("at rest" in line for line in plants.check(quiet).advice)


def test_gaps_are_advice():
    bare = Plant(
        name="bare",
        states=(Quantity("level", ""),),
        inputs=(Quantity("inflow", "m/s"),),
        channels=(Channel("level"),),
        derivative=lambda t, x, u, w, p: (u[0],),
    )
    report = plants.check(bare)
    assert report.ok, str(report)
    for told in (
        "state 'level' has no unit; write '1' where it has none",
        "there is no entropy_rate(t, x, u, w, p): its entropy production counts as 0 in every fitness, so that the controller's, |kd| e'^2",
        "fitness.entropy_weight=0 leaves it out",
        "there is no energy",
        "there is no supplied_power",
        "there are no operating_points",
        "channel 'level' has no rate output",
        "the region of 'level' has no bounds",
        "text is empty",
        "has no mode of its own",
    ):
        assert any(told in line for line in report.advice), told


def test_the_gain_of_an_algebraic_loop_is_stated():
    report = plants.check(INERTIA)
    assert report.loop_gain == pytest.approx(0.4 * 0.1**2)
    (line,) = (line for line in report.advice if "algebraic loop gain" in line)
    assert "'loop_free' diverges where it reaches 1" in line
    slow, other = (
        replace(INERTIA, states=tuple(replace(q, low=-1.0, high=1.0) for q in INERTIA.states)),
        CheckReport(""),
    )
    loop.check_loop(other, slow, BlockSample.draw(slow, 64, np.random.default_rng(0)))
    (line,) = other.advice
    assert "algebraic loop gain 0.004 at the nominal state, up to 0.3" in line
    assert "diverges" not in line


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"acceleration": lambda t, x, a, u, w, p: (-0.1 * a[0] - x[0],)}, "describe different motions"),
        ({"acceleration": lambda t, x, a, u, w, p: (-0.1 * a[0] * a[0],)}, "acceleration is not affine in a"),
        ({"mass_matrix": lambda t, x, u, w, p: ((x[0] - 200.0,),)}, "mass_matrix is not positive definite"),
        ({"mass_matrix": lambda t, x, u, w, p: (1.0,)}, "mass_matrix must return 1 rows of 1 numbers"),
        ({"force": lambda t, x, u, w, p: (1.0, 2.0)}, "force must return 1 (one number per acceleration), got 2"),
    ],
)
def test_faults_of_mutually_dependent_accelerations_are_told(changes, told):
    report = plants.check(replace(INERTIA, **changes))
    assert any(told in problem for problem in report.problems), str(report)


def test_a_mass_matrix_that_is_not_symmetric_is_told():
    plant = Plant(
        name="askew", states=tuple(Quantity(name, "m") for name in ("a", "b", "va", "vb")),
        mass_matrix=lambda t, x, u, w, p: ((2.0, 0.1), (0.3, 2.0)), force=lambda t, x, u, w, p: (-x[0], -x[1]),
    )  # fmt: skip
    assert any("not symmetric" in problem for problem in plants.check(plant).problems)


def test_only_plants_are_checked():
    with pytest.raises(TypeError, match="check takes a Plant, got str"):
        plants.check("van_der_pol")


def test_a_steep_band_around_zero_is_found_though_the_run_passes_it_between_two_points():
    """Friction that turns within 0.02 rad/s: 0.2 N m / 0.01 rad/s / 0.002 kg m^2 = 1e4 1/s there, and 1 1/s outside."""
    motor = Plant(
        name="motor",
        states=(Quantity("speed", "rad/s", 0.1, -100.0, 100.0),),
        inputs=(Quantity("torque", "N m", 0.0, -1.0, 1.0),),
        derivative=lambda t, x, u, w, p: (
            (u[0] - table1d(x[0], [-50.0, -0.01, 0.01, 50.0], [-0.3, -0.2, 0.2, 0.3])) / 0.002,
        ),
        channels=(Channel("speed"),),
        step=0.01,
    )
    report = plants.check(motor)
    assert report.step == pytest.approx(1e-5)
    assert any("fastest mode 1e+04 1/s" in advice for advice in report.advice)
    assert any("its own step of 0.01 s is too coarse" in advice for advice in report.advice)


def test_a_root_at_0_is_named_with_what_to_write_instead():
    """A tank that runs below empty: the root's slope there is no number, and no run says so by itself."""

    def runs_out(t, x, u, w, p):
        (level,), (inflow,) = x, u
        return (0.02 * inflow - 0.04 * sqrt(where(level, level, 0.0)),)

    tank = Plant(
        name="tank", states=(Quantity("level", "m", 0.5, -0.01, 5.0),), inputs=(Quantity("inflow", "m^3/s"),),
        channels=(Channel("level", low=0.0, high=10.0),), derivative=runs_out,
    )  # fmt: skip
    (problem,) = plants.check(tank).problems
    assert problem.startswith("it cannot be simulated")
    assert "slope is not finite at level = 0, level = -0.01" in problem
    assert "write a straight line there" in problem


def test_a_number_where_a_tuple_of_one_is_asked_for_is_told_with_its_place():
    plant = Plant(name="tank", states=(Quantity("level", "m", 0.2, 0.0, 1.0),), derivative=lambda t, x, u, w, p: -x[0])
    (problem,) = plants.check(plant).problems
    assert "test_check.py:" in problem
    assert problem.endswith("derivative returns a number, not a tuple of one: write (value,), with the comma")


@pytest.mark.parametrize(("nominal", "dead", "told"), [(0.0, 2.0, True), (4.0, 2.0, False), (0.0, None, False)])
def test_an_input_that_holds_no_operating_point_while_the_first_command_is_on_its_way_is_told(nominal, dead, told):
    late = {"parameters": (*SOUND.parameters, Quantity("dead", "s", dead)), "input_delay": "dead"} if dead else {}
    points = tuple(OperatingPoint(f"{place:g} m", (place, 0.0)) for place in (0.4, 1.0))  # held by 3.2 and 8 N
    report = plants.check(replace(SOUND, inputs=(Quantity("force", "N", nominal),), operating_points=points, **late))
    assert report.ok
    found = [text for text in report.advice if "until the first command arrives" in text]
    assert len(found) == told
    assert all("(dead: 2 s)" in text and "held by 3.2 to 8:" in text for text in found)
