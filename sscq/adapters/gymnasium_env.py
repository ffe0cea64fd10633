"""A Gymnasium environment from any plant and situation.

Source: M. Towers et al., Gymnasium: A Standard Interface for Reinforcement Learning Environments (2024),
arXiv:2407.17032.
"""

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
import gymnasium  # noqa: E402


class PlantEnv(gymnasium.Env):
    """One plant under commands from outside; what is seen, done and rewarded: :mod:`sscq.adapters.gymnasium_task`.

    Parameters
    ----------
    plant : Plant or str
    situation : Situation, or sequence of them, optional
    **settings
        `sample_time`, `step` [s], `fitness`, `integrator`, as of :class:`sscq.adapters.gymnasium_task.Task`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, plant: Plant | str, situation: Situation | Sequence[Situation] | None = None, **settings: Any
    ) -> None:
        self.task = Task(plant, situation, 1, **settings)
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
