"""How a MuJoCo model moves: many rollouts at a time (`mujoco.rollout`), and what its states are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.adapters.optional import package
from plants.core.slow import LostError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SUFFIXES = {  # of the coordinates and of the rates of each type of joint: free, ball, slide, hinge
    0: (("_x", "_y", "_z", "_qw", "_qx", "_qy", "_qz"), ("_vx", "_vy", "_vz", "_wx", "_wy", "_wz")),
    1: (("_qw", "_qx", "_qy", "_qz"), ("_wx", "_wy", "_wz")),
    2: (("",), ("_rate",)),
    3: (("",), ("_rate",)),
}
UNITS = {2: ("m", "m/s", "N"), 3: ("rad", "rad/s", "N m")}
_LOST = 1e9  # of any state; MuJoCo calls 1e10 bad
_WHOLE = 1e-6  # relative: a step of the loop is a whole number of the model's


def read_model(file: str) -> Any:
    """Return the model in a file."""
    return package("mujoco").MjModel.from_xml_path(file)


def names_of(model: Any) -> list[tuple[str, str]]:
    """Names and units of all states, in MuJoCo's order."""
    joints = [model.joint(k) for k in range(model.njnt)]
    actuators = [model.actuator(k) for k in range(model.nu)]
    for what, several in (("joint", joints), ("actuator", actuators)):
        if unnamed := [k for k, one in enumerate(several) if not one.name]:
            raise ValueError(f"every {what} of the model needs a name, number {unnamed[0]} has none")
    found = []
    for place in (0, 1):
        for joint in joints:
            kind = int(joint.type[0])
            unit = UNITS.get(kind, ("", "", ""))[place]
            found += [(joint.name + suffix, unit) for suffix in _SUFFIXES[kind][place]]
    return found + [
        (f"{actuators[k].name}_act", "") for k in range(model.nu) for _ in range(int(model.actuator_actnum[k]))
    ]


def initial_of(model: Any) -> list[float]:
    """The first keyframe, else the model's own position at rest."""
    if model.nkey:
        return [*model.key_qpos[0].tolist(), *model.key_qvel[0].tolist(), *model.key_act[0].tolist()]
    return [*model.qpos0.tolist(), *[0.0] * (model.nv + model.na)]


def open_session(settings: Mapping[str, Any]) -> MujocoSession:
    """Open a session of one rollout."""
    return MujocoSession(settings)


def open_batch(settings: Mapping[str, Any]) -> MujocoBatch:
    """Open many rollouts at a time."""
    return MujocoBatch(settings)


class MujocoBatch:
    """Rollouts of one model side by side.

    Their numbers do not depend on which others there are: each begins every step from its state alone.
    """

    room = 1024

    def __init__(self, settings: Mapping[str, Any]) -> None:
        mujoco, rollout = package("mujoco"), package("mujoco.rollout")
        self.model, threads = read_model(settings["file"]), int(settings["threads"])
        # A state that is not finite stays so: MuJoCo would start again from its own initial state.
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self._data = [mujoco.MjData(self.model) for _ in range(max(1, threads))]
        self._rollout = rollout.Rollout(nthread=threads)
        self._spec = int(mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        self._pushed = [self.model.jnt_dofadr[self.model.joint(joint).id] for joint in settings["pushed"]]
        self._names = [label for label, _ in names_of(self.model)]
        self._full = np.zeros((0, 0))
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._shown = slice(1, 1 + len(self._names))  # behind the time: coordinates, rates, activations
        self._size = size

    def start(self, starts: Sequence[Mapping[str, Any]]) -> Array:
        """Begin rollouts; return their states [n, n_x]."""
        self._full = np.zeros((len(starts), self._size))
        self._full[:, self._shown] = initial_of(self.model)
        for row, given in zip(self._full[:, self._shown], starts, strict=True):
            for label, value in given["initial"].items():
                row[self._names.index(label)] = value
        return self._full[:, self._shown].copy()

    def step(self, t: float, h: float, driven: Array) -> Array:  # noqa: ARG002  (models do not look at the clock)
        """Return the states [n, n_x] after a step with inputs and disturbances [n, n_u + n_w]; NaN: lost or over."""
        count = self._substeps(h)
        # Beyond a limit of its own MuJoCo writes a log file at every step; such a rollout is lost before.
        alive = np.isfinite(driven).all(axis=1) & (np.abs(self._full[:, self._shown]) < _LOST).all(axis=1)
        found = np.full((len(driven), len(self._names)), np.nan)
        if alive.any():
            n_u, nv = self.model.nu, self.model.nv
            control = np.zeros((int(alive.sum()), 1, n_u + nv))
            control[:, 0, :n_u] = driven[alive, :n_u]
            control[:, 0, [n_u + dof for dof in self._pushed]] = driven[alive, n_u:]
            data = self._data if self._rollout.nthread else self._data[0]
            moved, _ = self._rollout.rollout(
                self.model, data, self._full[alive], control, control_spec=self._spec, nstep=count
            )
            self._full[alive] = moved[:, -1]
            found[alive] = moved[:, -1, self._shown]
        return found

    def _substeps(self, h: float) -> int:
        ratio = h / self.model.opt.timestep
        count = round(ratio)
        if count < 1 or abs(ratio - count) > _WHOLE * count:
            raise ValueError(f"step {h:g} s must be a multiple of the model's time step {self.model.opt.timestep:g} s")
        return count

    def close(self) -> None:
        """End the threads."""
        self._rollout.close()


class MujocoSession:
    """One rollout: a batch of one."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._batch = MujocoBatch({**settings, "threads": 0})

    def start(self, parameters: Sequence[float], initial: Mapping[str, float]) -> Sequence[float]:
        """Begin anew."""
        return self._batch.start([{"parameters": parameters, "initial": initial}])[0].tolist()

    def step(self, t: float, u: Sequence[float], w: Sequence[float], h: float) -> Sequence[float]:
        """Return the states at t + h."""
        states = self._batch.step(t, h, np.array([[*u, *w]], float))[0]
        if not np.isfinite(states).all():
            raise LostError("the model's state is not finite")
        return states.tolist()

    def close(self) -> None:
        """Give everything back."""
        self._batch.close()
