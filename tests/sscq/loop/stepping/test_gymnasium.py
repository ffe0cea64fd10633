"""Gymnasium environments of plants: its own checker, our own simulations, vectors in lanes."""

from dataclasses import replace

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra: adapters)")

import plants  # noqa: E402
import sscq  # noqa: E402
from sscq.loop.stepping.lanes import commanded  # noqa: E402

QUICK = ("van_der_pol", "cart_pole", "fopdt")
# What the checker says of every task in physical units; nothing else may be said.
UNITS = "ignore:.*(symmetric and normalized|probably too (low|high)|due to the environment not having a spec).*"


@pytest.mark.filterwarnings(UNITS)
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in plants.names(tasks=True)]
)
def test_every_plant_passes_gymnasiums_checker(name):
    from gymnasium.utils.env_checker import check_env

    check_env(sscq.gym_env(name), skip_render_check=True)


def situation(plant, **changes):
    return replace(sscq.standard_sets(plants.get(plant))["taught"][0], **changes)


def test_a_seed_gives_the_excitation_of_the_simulator():
    task, plant = situation("van_der_pol", t_end=2.0), plants.get("van_der_pol")
    env = sscq.gym_env(plant, task)
    env.reset(seed=12)
    states = [env.state]
    for _ in range(200):
        env.step([1.0])
        states.append(env.state)
    run = sscq.record(plant, commanded(plant, None), [1.0], replace(task, seed=12), step=plant.step)
    np.testing.assert_array_equal(np.array(states), run.group("states"))


@pytest.mark.parametrize("command", [0.0, 4.0], ids=["stands", "falls"])
def test_the_rewards_of_an_episode_add_up_to_minus_the_fitness(command):
    plant, fitness = plants.get("cart_pole"), sscq.Fitness(effort_weight=0.01)
    task = situation("cart_pole", t_end=0.5 if command == 0.0 else 4.0)
    env, ended, total = sscq.gym_env(plant, task, fitness=fitness), False, 0.0
    env.reset(seed=3)
    while not ended:
        _, reward, terminated, truncated, _ = env.step([command, 0.0])
        total, ended = total + reward, terminated or truncated
    assert terminated == (command != 0.0)
    quality = sscq.evaluate(
        plant,
        commanded(plant, None),
        [[command, 0.0]],
        [replace(task, seed=3)],
        step=plant.step,
        measures=fitness.measures,
    )
    expected = fitness.per_situation(quality)[0, 0]
    # A sum of 400 differences of numbers up to 2000: each rounds by 1e-13.
    assert -total == pytest.approx(expected, abs=1e-10)


def test_a_vector_in_lanes_is_so_many_single_environments():
    from gymnasium.vector import SyncVectorEnv

    task = situation("cart_pole", noise=0.01, t_end=1.0)
    one = SyncVectorEnv([lambda: sscq.gym_env("cart_pole", task)] * 5)
    ours = sscq.gym_vector_env("cart_pole", 5, task)
    assert ours.metadata["autoreset_mode"] == one.metadata["autoreset_mode"]
    np.testing.assert_array_equal(ours.reset(seed=7)[0], one.reset(seed=7)[0])
    actions, fallen, ran_out = np.random.default_rng(1), 0, 0
    for _ in range(150):
        action = actions.uniform(-1.0, 1.0, (5, 2)) * [[1.0], [1.0], [1.0], [20.0], [20.0]]
        for got, expected in zip(ours.step(action)[:4], one.step(action)[:4], strict=True):
            np.testing.assert_array_equal(got, expected)
        fallen += int(ours.task.lanes.diverged.sum())
        ran_out += int((ours._ended & ~ours.task.lanes.diverged).sum())
    assert fallen
    assert ran_out  # episodes did end both ways, and began again


def test_a_start_can_be_chosen():
    env = sscq.gym_env("cart_pole", [situation("cart_pole"), situation("cart_pole", name="again")])
    seen, told = env.reset(seed=1, options={"situation": "again", "initial": {"angle": 0.2}})
    assert told["situation"] == "again"
    assert env.state[1] == seen[1] == 0.2
    with pytest.raises(ValueError, match="known: .*again"):
        env.reset(options={"situation": "agian"})
    with pytest.raises(ValueError, match="'situation' and 'initial'"):
        env.reset(options={"start": 1})


def test_an_action_that_is_no_command_is_refused():
    env = sscq.gym_env("cart_pole")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="a finite command for each channel"):
        env.step([np.nan, 0.0])
    with pytest.raises(ValueError, match="a finite command for each channel"):
        env.step([1.0])
