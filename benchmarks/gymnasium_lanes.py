"""Gymnasium environments in lanes of one kernel, against Gymnasium's own vector that steps them one after the other."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.report import Section, at_least
from benchmarks.timing import alternate, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.size import Size

COUNTS = (16, 128)
AIM = 10.0  # times the same environments one after the other
PLANT, ACTIONS, STEPS = "cart_pole", 50, 100  # long enough for every call to have ends of episodes


def gymnasium_lanes(size: Size) -> Section:
    """Time steps with random actions on the cart and pole, episodes that end and begin again included."""
    section = Section("gymnasium_lanes", "Gymnasium environments in lanes")
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

    import sscq

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
