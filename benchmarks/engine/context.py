"""Other people's simulators on the same equations, for context: python-control, MuJoCo and Gymnasium where installed.

Gymnasium environments run in lanes of one kernel, against Gymnasium's own vector that steps them one after the other.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from benchmarks.engine import case
from benchmarks.engine.case import chain
from benchmarks.runner.report import FigureSection, at_least
from experiments.reproduce.motions import OpenLoop
from experiments.runtime.timing import Timing, alternate, clock, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size
    from plants import Plant


_MASSES = 3
_LOOSE = 0.02  # relative: python-control closes the loop in continuous time
_SAME = 1e-6  # m: both take the same steps of RK4


def context(size: Size) -> FigureSection:
    """Time one loop in python-control, and free motion of a chain of masses in MuJoCo."""
    section = FigureSection("context", "Other simulators (context)")
    for name, add in (("control", _add_control), ("mujoco", _add_mujoco)):
        if importlib.util.find_spec(name) is None:
            section.notes.append(f"{name} is not installed: skipped.")
        else:
            add(section, size)
    return section


def _add_control(section: FigureSection, size: Size) -> None:
    """One candidate of the Van der Pol loop; its integral of |e| has to be near ours."""
    gains, loop = case.gains(1), case.closed_loop(size.steps)
    ours, theirs = float(loop.evaluate(gains, 1).iae[0, 0]), control_iae(gains[0], size.steps)
    if abs(theirs / ours - 1.0) > _LOOSE:
        message = f"python-control: integral of |e| {theirs:g}, the kernel has {ours:g}"
        raise RuntimeError(message)
    many = case.gains(1000)
    one = Timing(tuple(clock(lambda: control_iae(gains[0], size.steps)) for _ in range(size.repeats)))
    kernel = Timing(tuple(clock(lambda: loop.evaluate(many, 1)) for _ in range(size.repeats))).per(len(many))
    section.time("one closed loop, python-control", one, "ms", 1e3, "input_output_response, its defaults")
    section.time("one closed loop of 1,000, kernel", kernel, "ms", 1e3)
    section.ratio("python-control / kernel", ratio(one, kernel))


def control_iae(gains: np.ndarray, n_steps: int) -> float:
    """Return python-control's integral of |e|; states q, q', integral of the law, integral of |e|."""
    import control

    (kp, ki, kd), (low, high) = gains.tolist(), case.limits()

    def update(_t: float, x: np.ndarray, u: np.ndarray, _p: dict[str, float]) -> list[float]:
        q, v, w, _ = x.tolist()
        e = float(u[0]) - q
        demand = kp * e + w - kd * v
        free = (demand < high or e < 0.0) and (demand > low or e > 0.0)
        force = min(max(demand, low), high)
        return [v, case.PLANT.derivative(0.0, (q, v), (force,), (0.0,), case.PLANT.nominal())[1], ki * e * free, abs(e)]

    system = control.nlsys(update, None, inputs=1, states=4)
    times = np.linspace(0.0, n_steps * case.STEP, 101)
    response = control.input_output_response(system, times, np.full(101, case.REFERENCE), [*case.INITIAL, 0.0, 0.0])
    return float(response.states[3, -1])


def _add_mujoco(section: FigureSection, size: Size) -> None:
    """Free motion of a linear chain, both with classical Runge-Kutta and the same step."""
    plant = chain(_MASSES, cubic=0.0)
    ours, n = OpenLoop(plant, "solved"), 1024
    initial = np.tile(plant.initial(), (n, 1))
    ends, _ = ours.run(n, size.steps, initial=initial)
    theirs = Mujoco(plant)
    gap = float(np.abs(theirs.positions(size.steps) - ends[0, :_MASSES]).max())
    if not gap <= _SAME:
        message = f"MuJoCo: positions at the end differ by {gap:.1e} m, expected at most {_SAME:g}"
        raise RuntimeError(message)
    calls = {
        "MuJoCo (RK4)": lambda: theirs.positions(size.steps),
        "kernel": lambda: ours.run(n, size.steps, initial=initial),
    }
    times = alternate(calls, max(2, size.rounds // 16))
    steps = {"MuJoCo (RK4)": times["MuJoCo (RK4)"].per(size.steps), "kernel": times["kernel"].per(n * size.steps)}
    for name, timing in steps.items():
        section.time(f"one step, chain of {_MASSES} masses, {name}", timing, "ns", 1e9)
    section.ratio("MuJoCo / kernel", ratio(steps["MuJoCo (RK4)"], steps["kernel"]))
    section.figure("largest difference of a position at the end", gap, "m")


class Mujoco:
    """A linear chain in MuJoCo: bodies nested in one another, whose joints are the springs."""

    def __init__(self, plant: Plant) -> None:
        import mujoco

        self.plant, self.library = plant, mujoco
        self.model = mujoco.MjModel.from_xml_string(_xml(plant))
        self.data = mujoco.MjData(self.model)

    def positions(self, n_steps: int) -> np.ndarray:
        """Return the masses' positions [m] after so many steps from the plant's initial state, in one call."""
        self.library.mj_resetData(self.model, self.data)
        self.data.qpos[:] = np.diff([0.0, *self.plant.initial()[:_MASSES]])
        self.library.mj_step(self.model, self.data, n_steps)
        return np.cumsum(self.data.qpos)


def _xml(plant: Plant) -> str:
    stiffness, _, damping = plant.nominal()
    joint = f'<joint type="slide" axis="1 0 0" stiffness="{stiffness}" damping="{damping}"/>'
    inertia = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    bodies = f"<body>{joint}{inertia}" * _MASSES + "</body>" * _MASSES
    option = f'<option timestep="{case.STEP}" integrator="RK4" gravity="0 0 0"/>'
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>"


COUNTS = (16, 128)
AIM = 10.0  # times the same environments one after the other
PLANT, ACTIONS, STEPS = "cart_pole", 50, 100  # long enough for every call to have ends of episodes


def gymnasium_lanes(size: Size) -> FigureSection:
    """Time steps with random actions on the cart and pole, episodes that end and begin again included."""
    section = FigureSection("gymnasium_lanes", "Gymnasium environments in lanes")
    if importlib.util.find_spec("gymnasium") is None:
        section.notes.append("Left out: gymnasium is not installed (extra: adapters).")
        return section
    for count in COUNTS if size.rounds > 10 else COUNTS[:1]:
        vectors = _vectors(count)
        calls = {name: _steps(vector) for name, vector in vectors.items()}
        times = {name: t.per(count * STEPS) for name, t in alternate(calls, max(2, size.rounds // 16)).items()}
        for name, time in times.items():
            section.time(f"one step of one environment, {name}, {count} of them", time, "us", 1e6)
        ours = times["lanes"]
        for name in list(times)[1:]:
            factor = ratio(times[name], ours)
            remark = (
                at_least(factor, AIM) if name == "ours in SyncVectorEnv" else "another cart and pole: Euler, no noise"
            )
            section.ratio(f"{name} / lanes, {count} environments", factor, remark)
    section.counts = {"plant": PLANT, "integrator": "rk4", "steps in a call": STEPS}
    return section


def _vectors(count: int) -> dict[str, Any]:
    import gymnasium
    from gymnasium.vector import SyncVectorEnv

    return {
        "lanes": sscq.gym_vector_env(PLANT, count),
        "ours in SyncVectorEnv": SyncVectorEnv([lambda: sscq.gym_env(PLANT)] * count),
        "CartPole-v1 in SyncVectorEnv": SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * count),
    }


def _steps(vector: Any) -> Callable[[], None]:
    """A call that takes some steps with actions drawn beforehand."""
    vector.reset(seed=1)
    vector.action_space.seed(1)
    actions, place = [vector.action_space.sample() for _ in range(ACTIONS)], iter(())

    def steps() -> None:
        nonlocal place
        for _ in range(STEPS):
            action = next(place, None)
            if action is None:
                place = iter(actions)
                action = next(place)
            vector.step(np.asarray(action))

    return steps
