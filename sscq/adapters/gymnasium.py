"""Gymnasium environments from any plant and situation: one, or many in the lanes of a compiled kernel.

Observation: all measurements as the sensors show them (with the situation's noise, delay, rounding and lost packets),
then the reference of each channel. Action: the command of each channel, inside its limits. Both in the plant's units.

Reward: minus the growth of the fitness J within the sample, so that the rewards of an episode add up to -J: what
`sscq.Fitness.per_situation` gives for the same commands in the same situation. The default J is

    J = int sum_i |e_i| / scale_i dt + 0.3 int |dS_u/dt - dS_c/dt| dt

with the plant's entropy production dS_u/dt [W] (less that of its rest). A command that is given from outside has no
derivative gain, so dS_c = 0, and the second term is the plant's own entropy production. An episode terminates when the
plant leaves its region: J becomes the graded penalty, more the earlier that is. It is truncated at the horizon.

Source: M. Towers et al., Gymnasium: A Standard Interface for Reinforcement Learning Environments (2024),
arXiv:2407.17032.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import vector

from plants.adapters.optional import package
from plants.core.registry import get
from sscq.fitness import Fitness
from sscq.loop.stepping.lanes import Lanes
from sscq.situations.situation import Situation
from sscq.situations.situation_sets import standard_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant


_SEEDS = 2**31  # of episodes that are started without one


class GymTask:
    """Episodes of a plant in one of several situations, in `count` lanes.

    Parameters
    ----------
    plant : Plant or str
        A name is looked up in the registry.
    situations : Situation, or sequence of them, optional
        Left out: the first that the plant is taught in. Of several, each episode draws one.
    count : int
    sample_time : float, optional
        Time between two actions [s]; left out: the integration step.
    step : float, optional
        Integration step [s]; left out: the plant's.
    fitness : Fitness, optional
    integrator : str
    """

    def __init__(
        self,
        plant: Plant | str,
        situations: Situation | Sequence[Situation] | None,
        count: int,
        *,
        sample_time: float | None = None,
        step: float | None = None,
        fitness: Fitness | None = None,
        integrator: str = "rk4",
    ) -> None:
        self.plant: Plant = get(plant) if isinstance(plant, str) else plant
        if situations is None:
            situations = standard_sets(self.plant)["taught"][:1]
        several = (situations,) if isinstance(situations, Situation) else tuple(situations)
        self.fitness, self.situations = fitness or Fitness(), several
        step = self.plant.step if step is None else step
        self.lanes = Lanes(
            self.plant, several, count, step=step, sample_time=step if sample_time is None else sample_time,
            integrator=integrator, measures=self.fitness.measures, entropy_scale=self.fitness.entropy_scale,
        )  # fmt: skip
        self.observation_space, self.action_space = self._observed(), self._commanded()
        self._generators: list[Any] = [None] * count
        self._fitness = np.zeros(count)

    def _observed(self) -> Any:
        """Bounds of the plant's region where a measurement is a state that the sensors show as it is."""
        plant, spec = self.plant, self.lanes.loop.spec
        shown = plant.outputs is type(plant).__dataclass_fields__["outputs"].default
        changed = np.vstack([spec.noise, spec.quanta]) != 0.0
        exact = [not column.any() for column in changed.T]
        low = [q.low if p and shown else -np.inf for q, p in zip(plant.measurements, exact, strict=True)]
        high = [q.high if p and shown else np.inf for q, p in zip(plant.measurements, exact, strict=True)]
        free = [np.inf] * len(plant.channels)
        return _box([*low, *(-x for x in free)], [*high, *free])

    def _commanded(self) -> Any:
        return _box([c.low for c in self.plant.channels], [c.high for c in self.plant.channels])

    def begin(self, lanes: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None) -> None:
        """Start episodes in `lanes`; without a seed with the next numbers of the lane's own generator.

        Parameters
        ----------
        options : dict, optional
            "situation": name of the situation; "initial": initial state, by name or in full.

        Raises
        ------
        ValueError
            For an option or a situation that there is not.
        """
        options = options or {}
        if unknown := set(options) - {"situation", "initial"}:
            raise ValueError(f"options of reset are 'situation' and 'initial', got {', '.join(sorted(unknown))}")
        drawn = [self._episode(lane, seed) for lane, seed in zip(lanes, seeds, strict=True)]
        numbers = [number for number, _ in drawn]
        if "situation" in options:
            numbers = [self._named(options["situation"])] * len(drawn)
        initial = [options.get("initial")] * len(drawn)
        self.lanes.reset(lanes, numbers, [seed for _, seed in drawn], initial)
        self._fitness[list(lanes)] = self._value()[list(lanes)]

    def _episode(self, lane: int, seed: int | None) -> tuple[int, int]:
        """Place of the situation and seed of an episode; a given seed is the situation's own."""
        if seed is not None or self._generators[lane] is None:
            self._generators[lane] = package("gymnasium.utils.seeding").np_random(seed)[0]
        generator = self._generators[lane]
        number = int(generator.integers(len(self.situations))) if len(self.situations) > 1 else 0
        return number, int(generator.integers(_SEEDS)) if seed is None else seed

    def _named(self, name: str) -> int:
        known = [situation.name for situation in self.situations]
        if name not in known:
            raise ValueError(f"no situation {name!r} in this environment; known: {', '.join(known)}")
        return known.index(name)

    def _value(self) -> np.ndarray:
        return self.fitness.per_situation(self.lanes.quality())[:, 0]

    def act(self, actions: np.ndarray) -> np.ndarray:
        """Give every lane its action [lane, channel] and return the rewards [lane]."""
        commands = np.asarray(actions, float)
        if commands.shape != (self.lanes.count, len(self.plant.channels)) or not np.isfinite(commands).all():
            names = ", ".join(channel.output for channel in self.plant.channels)
            raise ValueError(f"an action is a finite command for each channel ({names}), got {actions!r}")
        self.lanes.command(commands)
        before, self._fitness = self._fitness, self._value()
        return before - self._fitness

    def observe(self) -> np.ndarray:
        """Return what the sensors show now, and the references [lane, measurement then channel]."""
        return self.lanes.look()

    @property
    def time(self) -> np.ndarray:
        """Time since the start of each lane's episode [s]."""
        return self.lanes.clock * self.lanes.loop.step


def _box(low: Sequence[float], high: Sequence[float]) -> Any:
    return package("gymnasium").spaces.Box(np.array(low, float), np.array(high, float), dtype=np.float64)


package("gymnasium")  # tells how to install it


class PlantEnv(gymnasium.Env):
    """One plant under commands from outside; what is seen, done and rewarded: :mod:`sscq.adapters.gymnasium`.

    Parameters
    ----------
    plant : Plant or str
    situation : Situation, or sequence of them, optional
    **settings
        `sample_time`, `step` [s], `fitness`, `integrator`, as of :class:`sscq.adapters.gymnasium.GymTask`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, plant: Plant | str, situation: Situation | Sequence[Situation] | None = None, **settings: Any
    ) -> None:
        self.task = GymTask(plant, situation, 1, **settings)
        self.observation_space, self.action_space = self.task.observation_space, self.task.action_space
        self.render_mode = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        """Start an episode; with a seed its excitation is that of the situation with this seed in `sscq.record`."""
        super().reset(seed=seed)
        self.task.begin([0], [seed], options)
        return self.task.observe()[0], self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:  # type: ignore[type-arg]
        """Hold the commands for one sample."""
        reward = float(self.task.act(np.asarray(action, float)[None])[0])
        terminated = bool(self.task.lanes.diverged[0])
        truncated = not terminated and bool(self.task.lanes.finished[0])
        return self.task.observe()[0], reward, terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        lanes = self.task.lanes
        return {"time": float(self.task.time[0]), "situation": lanes.situations[lanes.number[0]].name}

    @property
    def state(self) -> np.ndarray:
        """The plant's true state [n_x], which an observation need not show."""
        return self.task.lanes.states[0].copy()


def gym_env(plant: Plant | str, situation: Situation | Sequence[Situation] | None = None, **settings: Any) -> PlantEnv:
    """Return a Gymnasium environment of a plant in a situation; see :class:`PlantEnv`.

    Examples
    --------
    >>> env = gym_env("cart_pole", sample_time=0.02)  # doctest: +SKIP
    >>> observation, info = env.reset(seed=1)  # doctest: +SKIP
    """
    return PlantEnv(plant, situation, **settings)


package("gymnasium")  # tells how to install it


class PlantVectorEnv(vector.VectorEnv):
    """Environments side by side; the same numbers as from so many :class:`sscq.adapters.gymnasium.PlantEnv`.

    An episode that has ended begins anew in the next step, whose action is then not used and whose reward is 0
    (Gymnasium's mode NEXT_STEP). Every episode is at a time of its own.

    Parameters
    ----------
    plant : Plant or str
    num_envs : int
    situation : Situation, or sequence of them, optional
    **settings
        As of :class:`sscq.adapters.gymnasium.GymTask`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": vector.AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        plant: Plant | str,
        num_envs: int,
        situation: Situation | Sequence[Situation] | None = None,
        **settings: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, got {num_envs}")
        self.num_envs, self.task = num_envs, GymTask(plant, situation, num_envs, **settings)
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        batch = package("gymnasium.vector.utils").batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:  # type: ignore[type-arg]
        """Start all episodes; from one seed environment i gets seed + i, as in Gymnasium's own vectors."""
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"as many seeds as environments are needed: {self.num_envs}, got {len(seeds)}")
        self.task.begin(range(self.num_envs), seeds, options)
        self._ended[:] = False
        return self.task.observe(), self._info()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:  # type: ignore[type-arg]
        """Hold every environment's commands for one sample."""
        fresh = np.flatnonzero(self._ended)
        rewards = self.task.act(actions)
        if len(fresh):
            self.task.begin(fresh.tolist(), [None] * len(fresh), None)
            rewards[fresh] = 0.0
        terminated = self.task.lanes.diverged
        truncated = self.task.lanes.finished & ~terminated
        self._ended = terminated | truncated
        return self.task.observe(), rewards, terminated, truncated, self._info()

    def _info(self) -> dict[str, Any]:
        return {"time": self.task.time, "_time": np.ones(self.num_envs, bool)}


def gym_vector_env(
    plant: Plant | str, num_envs: int, situation: Situation | Sequence[Situation] | None = None, **settings: Any
) -> PlantVectorEnv:
    """Return Gymnasium environments of a plant side by side; see :class:`PlantVectorEnv`."""
    return PlantVectorEnv(plant, num_envs, situation, **settings)
