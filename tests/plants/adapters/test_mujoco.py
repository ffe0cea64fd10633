"""MuJoCo models as slow plants: against our own equations of the same cart and pole."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra: adapters)")

import plants  # noqa: E402
import sscq  # noqa: E402
from controllers import PID  # noqa: E402
from plants import Channel  # noqa: E402
from plants.adapters.mujoco_model import MujocoBatch, from_mujoco  # noqa: E402
from plants.core.slow import LostError  # noqa: E402

MODEL = Path(__file__).parents[3] / "docs" / "examples" / "cart_and_pole.xml"
OURS = plants.get("cart_pole")
CHANNELS = tuple(replace(channel, rate=f"{channel.output}_rate") for channel in OURS.channels)
GAINS = [[40.0, 0.0, 8.0, 1.5, 0.1, 2.5], [30.0, 0.0, 5.0, 1.0, 0.0, 2.0], [5.0, 0.0, 1.0, 0.0, 0.0, 0.0]]


def allocate(t, x, commands, p):
    return (-(commands[0] + commands[1]),)


def cart_and_pole(**more):
    regions = {"position": (-2.4, 2.4), "angle": (-1.2, 1.2)}
    return from_mujoco(MODEL, channels=CHANNELS, regions=regions, allocate=allocate, pushed=("position",), **more)


def situations():
    common = {"t_end": 3.0, "delay": 0.02, "noise": 1e-3}
    return [
        sscq.Situation("balance", initial={"position": 0.2, "angle": 0.1}, **common),
        sscq.Situation("drive", reference={"position": 0.5}, initial={"angle": 0.0}, seed=3, **common),
    ]


def test_a_model_moves_as_our_own_equations_of_it():
    slow, ours = (
        sscq.evaluate(plant, PID(), GAINS, situations(), measures=("iae", "effort", "entropy_plant"))
        for plant in (cart_and_pole(), OURS)
    )
    np.testing.assert_array_equal(slow.failed, ours.failed)
    assert slow.failed.any()  # the last gains let it fall
    assert not slow.failed.all()
    for name in ("iae", "effort", "entropy_plant"):
        # Two derivations of one mechanism, both with rk4 of 0.01 s: only rounding differs, and loops that stand do
        # not let it grow; those that fall stretch it by exp(4 1/s * 1 s).
        np.testing.assert_allclose(slow[name], ours[name], rtol=1e-11)


def test_rollouts_side_by_side_are_those_of_one_at_a_time():
    slow = cart_and_pole()
    batch, rng = MujocoBatch(slow.settings), np.random.default_rng(2)
    starts = [{"parameters": [], "initial": {"angle": 0.1 * k}} for k in range(5)]
    states, sessions = [batch.start(starts)], [slow.open() for _ in starts]
    begun = [session.start([], given["initial"]) for session, given in zip(sessions, starts, strict=True)]
    np.testing.assert_array_equal(states[0], begun)
    for k in range(20):
        driven = rng.uniform(-5.0, 5.0, (5, 2))
        moved = [session.step(0.01 * k, row[:1], row[1:], 0.01) for session, row in zip(sessions, driven, strict=True)]
        np.testing.assert_array_equal(batch.step(0.01 * k, 0.01, driven), moved)
    for session in sessions:
        session.close()
    batch.close()


def test_threads_change_nothing():
    one, two = (sscq.evaluate(cart_and_pole(threads=n), PID(), GAINS[:1], situations()).iae for n in (0, 2))
    np.testing.assert_array_equal(one, two)


def test_a_push_is_a_force_on_its_joint():
    session = cart_and_pole().open()
    session.start([], {"angle": 0.0})
    pushed = session.step(0.0, [0.0], [1.5], 0.01)
    session.start([], {"angle": 0.0})
    np.testing.assert_array_equal(session.step(0.0, [1.5], [0.0], 0.01), pushed)
    session.close()


def test_a_lost_rollout_stays_lost_and_leaves_its_neighbour_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes what it thinks of such a force
    batch = MujocoBatch(cart_and_pole().settings)
    batch.start([{"parameters": [], "initial": {"angle": 0.1}}] * 2)
    force = np.array([[0.0, 1e300], [0.0, 0.0]])  # as a push: actuators have a range
    moved = [batch.step(0.01 * k, 0.01, force * (k == 0)) for k in range(4)]
    assert not (np.abs(moved[0][0]) < 1e9).all()  # not begun again, which MuJoCo would do
    assert not np.isfinite(moved[3][0]).any()
    assert (np.abs(moved[3][1]) < 1.0).all()
    batch.close()


def test_a_session_tells_that_its_rollout_is_lost():
    session = cart_and_pole().open()
    session.start([], {"position_rate": 1e10})
    with pytest.raises(LostError, match="not finite"):
        session.step(0.0, [0.0], [0.0], 0.01)


def test_several_steps_of_the_model_are_one_of_the_loop():
    batch = MujocoBatch(cart_and_pole().settings)
    start = [{"parameters": [], "initial": {"angle": 0.3}}]
    batch.start(start)
    for k in range(3):
        small = batch.step(0.01 * k, 0.01, np.ones((1, 2)))
    batch.start(start)
    np.testing.assert_array_equal(batch.step(0.0, 0.03, np.ones((1, 2))), small)
    with pytest.raises(ValueError, match="must be a multiple of the model's time step 0.01 s"):
        batch.step(0.0, 0.015, np.ones((1, 2)))


def test_states_inputs_and_losses_come_from_the_model():
    declared = cart_and_pole().plant
    assert [q.name for q in declared.states] == ["position", "angle", "position_rate", "angle_rate"]
    assert [(q.name, q.low, q.high) for q in declared.inputs] == [("force", -30.0, 30.0)]
    assert [(q.name, q.unit) for q in declared.disturbances] == [("push_position", "N")]
    assert declared.entropy_rate(0.0, (0.0, 0.0, 2.0, 3.0), (), (), ()) == pytest.approx(0.1 * 4.0 + 0.002 * 9.0)


SPINNING = """<mujoco><worldbody><body><freejoint name="float"/><geom size="0.1"/>
<body><joint name="ball" type="ball"/><geom size="0.1"/></body></body></worldbody>
<keyframe><key qpos="1 2 3 1 0 0 0 1 0 0 0" qvel="0 0 5 0 0 0 0 0 0"/></keyframe></mujoco>"""


def test_joints_of_several_freedoms_and_keyframes(tmp_path):
    file = tmp_path / "spinning.xml"
    file.write_text(SPINNING)
    states = from_mujoco(file, channels=()).plant.states
    found = {q.name: q.nominal for q in states}
    assert len(states) == 11 + 9
    assert (found["float_y"], found["float_qw"], found["ball_qw"], found["float_vz"]) == (2.0, 1.0, 1.0, 5.0)


def test_what_is_not_in_the_model_is_told(tmp_path):
    with pytest.raises(ValueError, match="did you mean 'angle'"):
        from_mujoco(MODEL, channels=CHANNELS, regions={"angel": (-1.0, 1.0)})
    with pytest.raises(ValueError, match="joint to push"):
        from_mujoco(MODEL, channels=CHANNELS, pushed=("wheel",))
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        from_mujoco(tmp_path / "none.xml", channels=())
    with pytest.raises(ValueError, match="'height'"):
        from_mujoco(MODEL, channels=(Channel(output="height"),))
