"""Slow plants: the loop stepped around them against the compiled one."""

import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.adapters.stepped import stepped
from plants.core.slow import SlowPlant, opened
from plants.excitation import WhiteNoise
from sscq.loop.slow import SlowLoop, SlowPlantError, crew

LAW = PID(sample_time=0.02)
GAINS = np.array([[4.0, 0.5, 3.0], [9.0, 2.0, -5.0], [1.0, 0.0, 0.0]])
SITUATIONS = [
    sscq.Situation(
        "sensors", reference=1.0, t_end=1.0, noise=0.01, output_delay=0.05, quantisation=0.001, jitter=0.3, dropout=0.1,
        seed=3,
    ),
    sscq.Situation(
        "actuator", reference=1.0, t_end=1.0, delay=0.033, command_dropout=0.1, rate_limit=20.0, dead_zone=0.1,
        backlash=0.05, limits=(-6.0, 6.0),
    ),
    sscq.Situation("start", reference=-1.0, t_end=0.6, initial=[0.5, 1.0], parameters={"mu": 2.0}),
]  # fmt: skip


def assert_same(slow, compiled):
    """Measures to 1e-9 of the largest: the plant's own arithmetic is not fused there, all else is the same code."""
    assert slow.values.keys() == compiled.until_lost.keys()
    assert slow.situations == compiled.situations
    for name, expected in compiled.until_lost.items():
        np.testing.assert_allclose(
            slow.until_lost[name], expected, rtol=0.0, atol=1e-9 * max(1.0, np.abs(expected).max()), err_msg=name
        )
    np.testing.assert_array_equal(slow.diverged_at, compiled.diverged_at)


def slowly(plant, gains, situations, workers=0, law=LAW, **more):
    loop = SlowLoop(plant, law, situations, 0.01, **more)
    with closing(crew(plant, workers)) as members:
        return loop.evaluate(np.atleast_2d(gains), members)


def test_measures_are_those_of_the_compiled_loop():
    plant = plants.get("van_der_pol")
    assert_same(slowly(stepped(plant), GAINS, SITUATIONS), sscq.evaluate(plant, LAW, GAINS, SITUATIONS, 0.01))


@pytest.mark.parametrize(
    ("name", "situation"),
    [
        ("quarter_car", sscq.Situation("road", t_end=0.3, excitation=0.02)),  # measures of its own
        ("planar_quadrotor", sscq.Situation("hover", t_end=0.5, noise=0.001)),  # three channels and their allocation
        ("van_der_pol", sscq.Situation("pushed", t_end=0.5, excitation=WhiteNoise(0.5), seed=4)),
    ],
)
def test_plants_of_other_kinds(name, situation):
    plant = plants.get(name)
    gains = [0.5 * (low + high) for c in plant.channels for low, high in zip(c.gains_low, c.gains_high, strict=True)]
    law = tuple(PID() for _ in plant.channels)
    compiled = sscq.evaluate(plant, law, gains, situation, 0.01)
    assert_same(slowly(stepped(plant), gains, [situation], law=law), compiled)


def test_divergence_is_seen_in_the_same_step():
    plant = plants.get("van_der_pol")
    narrow = replace(plant, states=(replace(plant.states[0], low=-0.3, high=0.3), *plant.states[1:]))
    situations = [sscq.Situation("far", reference=1.0, t_end=1.0), sscq.Situation("near", reference=0.1, t_end=1.0)]
    plants.register(replace(narrow, name="narrow_oscillator"))
    narrow = plants.get("narrow_oscillator")
    compiled = sscq.evaluate(narrow, LAW, GAINS, situations, 0.01)
    assert compiled.failed.any()
    assert not compiled.failed.all()
    assert_same(slowly(stepped(narrow), GAINS, situations), compiled)


def test_results_do_not_depend_on_processes_and_they_are_replaced():
    plant = stepped(plants.get("van_der_pol"))
    alone = slowly(plant, GAINS[:2], SITUATIONS[2:])
    loop = SlowLoop(plant, LAW, SITUATIONS[2:], 0.01)
    with closing(crew(plant, 1, recycle=2)) as members:
        first = loop.evaluate(GAINS[:2], members)
        process = members._members[0]._process.pid
        again = loop.evaluate(GAINS[:2], members)
        assert members._members[0]._process.pid != process
    for name, values in alone.until_lost.items():
        assert values.tobytes() == first[name].tobytes() == again[name].tobytes()


def test_public_evaluate_takes_slow_plants(monkeypatch):
    monkeypatch.setattr(sys.modules["sscq.loop.evaluate"], "crew", lambda plant, workers: crew(plant, 0))
    plant = plants.get("van_der_pol")
    slow = sscq.evaluate(stepped(plant), LAW, GAINS[0], SITUATIONS[2], 0.01, measures=["iae"])
    assert slow.iae[0, 0] == pytest.approx(
        sscq.evaluate(plant, LAW, GAINS[0], SITUATIONS[2], 0.01).iae[0, 0], rel=1e-12
    )
    with pytest.raises(ValueError, match="moved by another program"):
        sscq.evaluate(stepped(plant), LAW, GAINS[0], SITUATIONS[2], 0.01, integrator="euler")


def test_watched_rollout_is_the_recorded_one():
    plant = plants.get("van_der_pol")
    record = sscq.record(plant, LAW, GAINS[0], SITUATIONS[0], 0.01)
    with closing(crew(stepped(plant), 0)) as members:
        _, (watched,) = SlowLoop(stepped(plant), LAW, SITUATIONS[:1], 0.01).shown(GAINS[:1], members)
    np.testing.assert_allclose(watched.states, record.states, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(watched.inputs, record.group("inputs")[:-1], rtol=0.0, atol=1e-12)


def test_entropy_above_rest_is_refused():
    plant = next(p for p in map(plants.get, plants.names()) if p.loses_at_rest and p.channels)
    law = tuple(PID() for _ in plant.channels)
    with pytest.raises(ValueError, match="no equations"):
        SlowLoop(stepped(plant), law, [sscq.Situation(t_end=1.0)], plant.step, measures=["entropy_plant"])


_FILE = """
import os
import plants

def derivative(t, x, u, w, p):
    if t > 0.05:
        {then}
    return (-x[0] + u[0],)

plants.register(plants.Plant(
    "{name}", (plants.Quantity("y", "1"),), inputs=(plants.Quantity("u", "1"),),
    channels=(plants.Channel("y", low=-1.0, high=1.0),), derivative=derivative,
))
"""


@pytest.mark.parametrize(
    ("then", "workers", "told"),
    [("os._exit(3)", 1, r"its process died \(exit code 3\)"), ("raise KeyError('inside')", 1, "KeyError: 'inside'")],
)
def test_a_program_that_fails_is_reported(then, workers, told, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(_FILE.format(then=then, name=f"own_{then[:2]}"))
    (plant,) = plants.load_plant_file(file)
    slow = stepped(plant, file=str(file))
    loop = SlowLoop(slow, PID(), [sscq.Situation(reference=0.5, t_end=0.2)], 0.01)
    with closing(crew(slow, workers)) as members, pytest.raises(SlowPlantError, match=told):
        loop.evaluate(np.array([[1.0, 0.0, 0.0]]), members)


def test_a_lost_session_is_a_divergence(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(_FILE.format(then="raise ZeroDivisionError", name="own_lost"))
    (plant,) = plants.load_plant_file(file)
    found = slowly(
        stepped(plant, file=str(file)), [[1.0, 0.0, 0.0]], [sscq.Situation(reference=0.5, t_end=0.2)], law=PID()
    )
    assert found.diverged_at[0, 0] == pytest.approx(0.05)


def test_refusals():
    plant = plants.get("van_der_pol")
    with pytest.raises(AttributeError, match="moved by another program"):
        sscq.record(stepped(plant), LAW, GAINS[0], SITUATIONS[0])
    with pytest.raises(ValueError, match="explicit integrator"):
        stepped(plant, "rosenbrock")
    with pytest.raises(ValueError, match="module:function"):
        opened("plants.adapters.stepped:nothing", {})
    with pytest.raises(ValueError, match="workers must be"):
        crew(stepped(plant), -1)
    lone = replace(stepped(plant), alone=True)
    assert isinstance(lone, SlowPlant)
    assert (crew(lone, 0).room, crew(lone, 3).room, crew(stepped(plant), 3).room) == (1, 3, 16)
