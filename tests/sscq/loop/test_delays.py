"""Dead times of the command and of the measurements: whole steps and samples, and parts of them."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import Sine, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.spec import LoopSpec
from tests.reference.closed_loop_twin import plain_record, uncompiled

VDP, FOPDT = plants.get("van_der_pol"), plants.get("fopdt")
H, SAMPLE = 0.01, 3
LAW = PID(sample_time=H * SAMPLE)
GAINS = (3.0, 0.8, 2.0)
CALM = sscq.Situation("calm", 1.0, initial=(0.3, -0.2), t_end=1.2)


def recorded(plant, situation, gains=GAINS, law=LAW):
    """Record of one loop, run as plain Python, without its last row, which no sample was made for."""
    run = plain_record(plant, law, situation, gains, H)
    return replace(run, time=run.time[:-1], signals=run.signals[:-1])


def shifted(values, steps, before):
    """Values `steps` ago, between two of them linearly; `before` the first."""
    whole = int(np.floor(steps))
    padded = np.concatenate([np.full(whole + 1, before), values])
    near, far = padded[1 : len(values) + 1], padded[: len(values)]
    return near + (steps - whole) * (far - near)


@pytest.mark.parametrize("steps", [0.25, 1.0, 2.0, 2.5, 3.0, 7.75, 41.0])
def test_the_command_arrives_late(steps):
    run = recorded(VDP, replace(CALM, delay=steps * H))
    # Rounding of one interpolation.
    np.testing.assert_allclose(run["force"], shifted(run["command position"], steps, 0.0), atol=1e-13)
    assert np.ptp(run["command position"]) > 1.0


def test_until_the_first_command_arrives_inputs_are_nominal_and_the_integral_begins_where_it_is_told():
    held = replace(FOPDT, inputs=(replace(FOPDT.inputs[0], nominal=0.4),))
    rest = sscq.Situation("rest", 0.4, parameters={"L": 0.3}, initial=(0.4,), t_end=1.2)  # a static gain of 1
    run = recorded(held, rest, (0.0, 0.5, 0.0), replace(LAW, initial_command=0.4))
    np.testing.assert_allclose(run["command"], shifted(run["command output"], 30, 0.4), atol=1e-13)
    np.testing.assert_allclose(run["output"], 0.4, atol=1e-12)
    assert np.ptp(recorded(FOPDT, rest, (0.0, 0.5, 0.0), replace(LAW, initial_command=0.4))["output"]) > 0.05


def test_a_command_that_never_arrives_changes_nothing():
    late, wild = (recorded(VDP, replace(CALM, delay=5.0), gains) for gains in (GAINS, (9.0, 0.0, -1.0)))
    np.testing.assert_array_equal(late.states, wild.states)
    free = plants.simulate(VDP, CALM.t_end, H, initial=CALM.initial).states[:-1]
    np.testing.assert_allclose(late.states, free, atol=1e-13)


@pytest.mark.parametrize("samples", [0.25, 0.5, 1.0, 1.5, 2.0, 4.75])
def test_measurements_arrive_late(samples):
    """Law and schedule see the error and its rate of some samples ago; the first measurement holds before."""
    run = recorded(VDP, replace(CALM, output_delay=samples * H * SAMPLE))
    y, v = run["position"][::SAMPLE], run["velocity"][::SAMPLE]
    seen = 1.0 - shifted(y, samples, y[0])
    np.testing.assert_allclose(run["error position"][::SAMPLE], seen, atol=1e-13)
    np.testing.assert_allclose(run["error rate position"][::SAMPLE], -shifted(v, samples, v[0]), atol=1e-13)
    # The measures are about the plant, not about what the controller sees.
    assert abs(run["error position"][-1] - (1.0 - run["position"][-1])) > 1e-5


def test_dead_time_of_plant_and_situation_add_up():
    base = sscq.Situation("load", 1.0, Sine(0.2, 0.7), t_end=1.5)
    split = recorded(FOPDT, replace(base, parameters={"L": 0.2}, delay=0.125))
    whole = recorded(FOPDT, replace(base, parameters={"L": 0.325}))
    only = recorded(FOPDT, replace(base, parameters={"L": 0.0}, delay=0.325))
    np.testing.assert_array_equal(split.states, whole.states)
    np.testing.assert_array_equal(split.states, only.states)
    assert np.count_nonzero(split["output"] != recorded(FOPDT, replace(base, parameters={"L": 0.3}))["output"]) > 90


def test_delays_side_by_side_are_each_alone():
    """One kernel for all delays, in chunks of equal ones; none at all is a delay of 0 there."""
    noisy = replace(CALM, excitation=WhiteNoise(0.2, hold=0.05), noise=0.01, seed=3)
    delays = [(0.0, 0.0), (0.025, 0.0), (0.0, 0.045), (0.1, 0.2), (0.025, 0.045), (0.0, 0.0)]
    several = [replace(noisy, name=f"{k % 5}", delay=a, output_delay=b) for k, (a, b) in enumerate(delays)]
    theta = np.array([GAINS, (1.0, 0.2, 3.0)])
    with uncompiled():
        together = ClosedLoop(VDP, LAW, several, H, lanes=2)
        quality = together.evaluate(theta, threads=1)
        assert [0, 5] in together.groups()
        assert len(together.groups()) == 5
        for k, situation in enumerate(several):
            alone = ClosedLoop(VDP, LAW, (situation,), H, lanes=2).evaluate(theta, threads=1)
            for name, values in alone.until_lost.items():
                np.testing.assert_array_equal(values[0], quality.until_lost[name][k], err_msg=f"{name} in {situation}")
    np.testing.assert_array_equal(quality.iae[0], quality.iae[5])


@pytest.mark.parametrize(
    ("delay", "steps", "part"),
    [
        (0.0, 0, 0.0),
        (0.03, 3, 0.0),
        (0.29999999999, 30, 0.0),
        (0.30000000001, 30, 0.0),
        (0.035, 3, 0.5),
        (1e-12, 0, 0.0),
    ],
)
def test_times_given_in_decimals_are_whole_steps(delay, steps, part):
    (found,) = LoopSpec(VDP, LAW, (replace(CALM, delay=delay),), H).delays
    assert (found.input_steps, found.input_part) == (steps, pytest.approx(part, abs=1e-9))
    assert found.input == (steps + part > 0.0)
    assert not found.output
    (late,) = LoopSpec(VDP, LAW, (replace(CALM, output_delay=delay * SAMPLE),), H).delays
    assert (late.output_samples, late.output_part) == (steps, pytest.approx(part, abs=1e-9))
