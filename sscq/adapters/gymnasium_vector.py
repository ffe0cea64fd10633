"""Many Gymnasium environments of one plant in the lanes of a compiled kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.adapters.optional import package
from sscq.adapters.gymnasium_task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.situation import Situation

package("gymnasium")  # tells how to install it
from gymnasium import vector  # noqa: E402


class PlantVectorEnv(vector.VectorEnv):
    """Environments side by side; the same numbers as from so many :class:`sscq.adapters.gymnasium_env.PlantEnv`.

    An episode that has ended begins anew in the next step, whose action is then not used and whose reward is 0
    (Gymnasium's mode NEXT_STEP). Every episode is at a time of its own.

    Parameters
    ----------
    plant : Plant or str
    num_envs : int
    situation : Situation, or sequence of them, optional
    **settings
        As of :class:`sscq.adapters.gymnasium_task.Task`.
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
        self.num_envs, self.task = num_envs, Task(plant, situation, num_envs, **settings)
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
