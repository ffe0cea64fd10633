"""What a plant makes of its state at the end of a step: impacts, projections, resets, in every loop mode."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.core.analysis.equilibrium import Equilibria
from plants.core.elementary import quotient, sqrt, where
from plants.core.motion.integrators import INTEGRATORS
from plants.core.motion.modes import MODES
from plants.excitation import Sine, Step, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from tests.reference.accelerated_twin import Twin

GRAVITY = 9.81  # m/s^2
IMPACTS = (0.4515236, 1.1739615, 1.7519117)  # s: constrained dynamics, section 5, R13
CART = plants.get("cart_pole")


def bounce(t, x, u, w, p, h):
    """Newton's law of impact on the floor, 0.8 of the speed."""
    height, speed = x
    hit = where(-height, where(-speed, 1.0, 0.0), 0.0)
    return where(hit, 0.0, height), where(hit, -0.8 * speed, speed)


BALL = Plant(
    name="ball", states=(Quantity("height", "m", 1.0, -1e-3, 10.0), Quantity("speed", "m/s", 0.0, -50.0, 50.0)),
    derivative=lambda t, x, u, w, p: (x[1], -GRAVITY), after_step=bounce, energy=lambda t, x, u, w, p: 0.5 * x[1] ** 2 + GRAVITY * x[0],
    entropy_rate=lambda t, x, u, w, p: 0.0 * x[0], text="a ball on a floor",
)  # fmt: skip


def buffers(t, x, u, w, p, h):
    """The cart's track ends at 0.1 m: half its speed comes back; the pole's rate stays."""
    position, angle, speed, turning = x
    hit = where(position * position - 0.01, where(position * speed, 1.0, 0.0), 0.0)
    return position, angle, where(hit, -0.5 * speed, speed), turning


BUFFERED = replace(CART, after_step=buffers)


def projected(t, x, u, w, p, h):
    """Back onto the circle of 1 m, and the velocity along it."""
    a, b, va, vb = x
    size = sqrt(a * a + b * b)
    a, b = a / size, b / size
    out = a * va + b * vb
    return a, b, va - out * a, vb - out * b


def hanging(t, x, u, w, p):
    """Cartesian pendulum of 1 kg and 1 m: x'' = -tension x, the tension from the constraint's second derivative."""
    a, b, va, vb = x
    tension = quotient(va * va + vb * vb - GRAVITY * b, a * a + b * b)
    return va, vb, -tension * a, -GRAVITY - tension * b


PENDULUM = Plant(
    name="cartesian", states=tuple(Quantity(n, "1", v) for n, v in zip(("x", "y", "vx", "vy"), (np.sin(2.0), -np.cos(2.0), 0.0, 0.0), strict=True)),
    derivative=hanging, after_step=projected,
)  # fmt: skip


@pytest.mark.parametrize("integrator", list(INTEGRATORS))
def test_a_ball_bounces_when_it_should(integrator):
    errors = []
    for step in (1e-3, 2.5e-4):
        run = plants.simulate(BALL, 2.0, step, integrator=integrator)
        speed = run["speed"]
        jumps = np.flatnonzero((speed[1:] > 0.0) & (speed[:-1] < 0.0)) + 1
        assert len(jumps) == 3
        errors.append(np.abs(run.time[jumps] - IMPACTS).max())
        assert run["height"].min() >= 0.0
        assert run["height"][jumps] == pytest.approx(0.0, abs=0.0)
    # An impact that is seen d late, at most a step, is g d too fast: the next flight is 1.6 d longer, the one after it
    # 1.28 d. So the third is late by 3.88 d1 + 2.6 d2 + d3, at most 7.48 h. Euler falls h / 2 late, and each flight from
    # the floor ends h late: at most 3.88 * 1.5 h + 2.6 * 2 h + 2 h.
    limit = 13.02 if integrator == "euler" else 7.48
    assert errors[0] < limit * 1e-3
    assert errors[1] < limit * 2.5e-4


def by_hand(n_steps, h):
    """The ball as a loop in plain Python, exact in every flight."""
    height, speed, states = 1.0, 0.0, [(1.0, 0.0)]
    for _ in range(n_steps):
        height, speed = height + h * speed - 0.5 * GRAVITY * h * h, speed - GRAVITY * h
        if height < 0.0 and speed < 0.0:
            height, speed = 0.0, -0.8 * speed
        states.append((height, speed))
    return np.array(states)


@pytest.mark.parametrize("integrator", ["rk4", "rosenbrock"])
def test_the_compiled_kernel_agrees(integrator):
    run = plants.simulate(BALL, 2.0, 1e-3, integrator=integrator)
    np.testing.assert_allclose(run.states, by_hand(2000, 1e-3), rtol=0.0, atol=2000 * 4e-15)


def test_a_projection_keeps_the_pendulum_on_its_circle():
    """Constrained dynamics, section 5, B7 and R7."""
    run = plants.simulate(PENDULUM, 5.0, 1e-3)
    x, y, vx, vy = run.states.T
    # Two divisions and a square root, then three products: some 1e-16 each.
    assert np.abs(x * x + y * y - 1.0).max() < 1e-15
    assert np.abs(x * vx + y * vy)[1:].max() < 5e-15
    # rk4 at this step errs by (h w)^4 a second, w about 6 1/s: 1e-9.
    np.testing.assert_allclose((x[-1], y[-1]), (0.9971099558, -0.0759719428), rtol=0.0, atol=1e-8)
    assert x[-1] * vy[-1] - y[-1] * vx[-1] == pytest.approx(3.1073091979, abs=1e-8)
    free = plants.simulate(replace(PENDULUM, after_step=None), 5.0, 1e-3)
    drift = np.abs(free["x"] ** 2 + free["y"] ** 2 - 1.0).max()
    assert drift > 1e-12  # the flow alone leaves the circle: the projection is what keeps it there


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_every_loop_mode_goes_on_from_the_new_state(mode, integrator):
    force = Sine(8.0, 1.3, np.pi / 2)
    twin = Twin(BUFFERED, [2, 3], lambda t: (8.0 * np.sin(2.0 * np.pi * 1.3 * t + np.pi / 2),))
    expected = twin.run(160, 0.005, mode, integrator)
    run = plants.simulate(BUFFERED, 0.8, 0.005, algebraic_loop=mode, integrator=integrator, inputs={"force": force})
    jumps = np.abs(np.diff(expected[:, 2])) > 0.2
    assert jumps.sum() >= 2
    # As without impacts: last digits a step; iterations stop at residuals of 1e-10.
    error = 1e-9 if "loop_free" not in mode and mode != "solved" else 1e-12
    np.testing.assert_allclose(run.states, expected, rtol=0.0, atol=error)


def clock(t, x, u, w, p, h):
    return t, h, u[0], w[0], p[0]


WITNESS = Plant(
    name="witness", states=tuple(Quantity(n, "1") for n in ("t", "h", "u", "w", "p")), inputs=(Quantity("u", "1"),),
    disturbances=(Quantity("w", "1"),), parameters=(Quantity("p", "1", 7.0),), derivative=lambda *_: (0.0,) * 5,
    after_step=clock,
)  # fmt: skip


def test_the_block_is_given_the_ends_time_the_step_and_the_steps_inputs():
    run = plants.simulate(
        WITNESS,
        1.0,
        0.01,
        inputs={"u": Sine(1.0, 0.3)},
        disturbances={"w": WhiteNoise(1.0, hold=0.01) + Step(5.0, 0.5)},
    )
    states = run.states[1:]
    np.testing.assert_allclose(states[:, 0], run.time[1:], rtol=1e-14)
    assert (states[:, 1] == 0.01).all()
    np.testing.assert_allclose(states[:, 2], run.group("inputs")[1:, 0], atol=1e-14)  # smooth: at the end
    assert (states[:, 3] == run.group("disturbances")[:-1, 0]).all()  # held over the step, jumps as well
    assert (states[:, 4] == 7.0).all()
    assert (run.states[0] == 0.0).all()  # the initial state does not pass through it


def test_a_state_that_was_lost_is_not_brought_back(plain):
    """The flow ends in NaN at 1 s; a limit in the block would make a number of it."""
    lost = Plant(
        name="lost", states=(Quantity("x", "1", 1.0, -10.0, 10.0),), derivative=lambda t, x, u, w, p: (-sqrt(1.0 - t),),
        after_step=lambda t, x, u, w, p, h: (where(x[0], x[0], 0.5),),
    )  # fmt: skip
    with pytest.raises(plants.DivergedError, match=r"after t = 1 s"):
        plain(lost, 2.0, 0.125)


def test_the_region_is_tested_afterwards(plain):
    low = replace(BALL, after_step=lambda t, x, u, w, p, h: (x[0] - where(t - 0.1005, 2.0, 0.0), x[1]))
    with pytest.raises(plants.DivergedError, match="after t = 0.1 s at height = 0.95"):
        plain(low, 1.0, 1e-3)
    # 4 mm below the floor at most before the impact, 1 mm is the region's end.
    assert plain(BALL, 0.5, 1e-3).states[-1, 1] > 0.0


SITUATION = sscq.Situation(name="s", reference=0.0, initial=(0.0, 0.05, 0.6, 0.0), t_end=0.6)


def test_closed_loops_have_it_and_a_lost_lane_disturbs_nobody():
    gains = np.array([(0.0,) * 6, (80.0, 0.0, 20.0, 0.0, 0.0, 0.0), (30.0, 0.0, 5.0, 2.0, 0.0, 4.0)])
    bad = np.array([(-500.0, 0.0, 0.0, 0.0, 0.0, 0.0)])  # throws the pole over
    options = {"measures": ("iae", "effort"), "integrator": "euler"}
    loop = ClosedLoop(BUFFERED, PID(), (SITUATION,), 0.005, **options)
    clean, mixed = loop.evaluate(gains), loop.evaluate(np.vstack([gains[:1], bad, gains[1:]]))
    assert np.isfinite(mixed.diverged_at[0, 1])
    for name in options["measures"]:
        assert (mixed.until_lost[name][0, [0, 2, 3]] == clean.until_lost[name][0]).all()
    free = ClosedLoop(CART, PID(), (SITUATION,), 0.005, **options).evaluate(gains)
    assert clean.until_lost["iae"][0, 0] < 0.9 * free.values["iae"][0, 0]  # the ends hold the cart


def test_a_record_without_control_is_the_simulation():
    run = sscq.record(BUFFERED, PID(), (0.0,) * 6, SITUATION, 0.005, "rk4", "loop_free")
    same = plants.simulate(BUFFERED, 0.6, 0.005, SITUATION.initial, algebraic_loop="loop_free")
    assert (np.abs(np.diff(same["speed"])) > 0.3).any()
    np.testing.assert_allclose(run.states, same.states, rtol=0.0, atol=1e-13)


def test_the_check_counts_it_and_tests_the_flow_alone():
    report = plants.check(BALL)
    assert report.ok, str(report)
    text = str(report)
    assert "after_step" in text.split("operations: ")[1].splitlines()[0]
    assert "energy balance are those of the equations alone, without after_step" in text
    assert "the energy balance closes" in text
    assert "with after_step it stays in its region for" in text
    assert "; it adds -" in text  # impacts take energy
    short = plants.check(replace(BALL, after_step=lambda t, x, u, w, p, h: (x[0],)))
    assert "after_step must return 2 (one value per state (height, speed)), got 1" in str(short)
    endless = plants.check(replace(BALL, after_step=lambda t, x, u, w, p, h: (x[0], x[1] / (0.0 * x[0]))))
    assert "after_step is not finite at the nominal initial state" in str(endless)
    with pytest.raises(ValueError, match="a block of plant 'ball' must return 2 numbers, got 1"):
        plants.simulate(replace(BALL, after_step=lambda t, x, u, w, p, h: (x[0],)), 1.0, 0.1)


def test_linear_models_want_a_state_that_it_leaves_alone():
    above, below = (0.05, 0.0, 0.0, 0.0), (0.2, 0.0, 0.1, 0.0)
    here, there = (plants.linearise(plant, above) for plant in (BUFFERED, CART))
    np.testing.assert_array_equal(here.A, there.A)
    with pytest.raises(
        ValueError, match=r"after_step of plant 'cart_pole' changes the state .* speed from 0.1 to -0.05 m"
    ):
        plants.linearise(BUFFERED, below, input=(0.0,))
    shifted = replace(
        BUFFERED, after_step=lambda t, x, u, w, p, h: (x[0], x[1] + 0.1 * h, x[2], x[3]),
        operating_points=(OperatingPoint("upright", (0.0,) * 4),),
    )  # fmt: skip
    assert "operating point 'upright': after_step" in str(plants.check(shifted))
    assert Equilibria(BUFFERED).at((0.0, 0.0)).reached == 1.0
    with pytest.raises(ValueError, match="has no equilibrium"):
        Equilibria(shifted).at((0.0, 0.0))
    assert plants.is_odd(BUFFERED) == plants.is_odd(CART)
    oscillator = plants.get("duffing")
    assert plants.is_odd(oscillator)
    uneven = replace(oscillator, after_step=lambda t, x, u, w, p, h: (x[0], where(x[0], x[1], 0.5 * x[1])))
    assert not plants.is_odd(uneven)


def test_a_closed_plant_brings_it_along(plain):
    """Continuous control of a ball's height from below: the integral goes on, the ball bounces."""
    driven = replace(
        BALL, inputs=(Quantity("lift", "N"),), derivative=lambda t, x, u, w, p: (x[1], u[0] - GRAVITY), energy=None,
        entropy_rate=None, channels=(Channel(output="height", rate="speed"),),
    )  # fmt: skip
    closed = plants.close(driven, PID(), (2.0, 0.5, 0.1), 1.0, integrals=("iae",))
    run = plain(closed, 1.5, 1e-3)
    jump = int(np.flatnonzero(np.diff(run["speed"]) > 1.0)[0]) + 1
    assert run["speed"][jump] == pytest.approx(-0.8 * run["speed"][jump - 1], rel=0.01)  # a step of gravity
    assert abs(run["integral"][jump] - run["integral"][jump - 1]) < 2e-3
    rates = closed.derivative(0.0, (0.5, -1.0, 0.2, 0.0), (), (), closed.nominal())
    assert closed.after_step(0.0, (-0.5, -1.0, 0.2, 0.3), (), (), closed.nominal(), 1e-3) == (0.0, 0.8, 0.2, 0.3)
    assert len(rates) == 4
