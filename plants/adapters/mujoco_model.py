"""A MuJoCo model as a plant: its own solver moves it, many rollouts at a time (`mujoco.rollout`).

Inputs and disturbances are held over a step of the loop, which is a whole number of the model's time steps. States
have MuJoCo's order and the names of the model's joints.

Source: E. Todorov, T. Erez, Y. Tassa, MuJoCo: a physics engine for model-based control, IEEE/RSJ Int. Conf. on
Intelligent Robots and Systems (2012) 5026.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.adapters.optional import package
from plants.core.elementary import abs as magnitude
from plants.core.names import unknown
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.core.slow import LostError, SlowPlant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from plants.core.quantities import Channel

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


def from_mujoco(
    file: str | Path,
    name: str | None = None,
    *,
    channels: Sequence[Channel],
    pushed: Sequence[str] = (),
    regions: Mapping[str, tuple[float, float]] | None = None,
    threads: int = 0,
    **more: Any,
) -> SlowPlant:
    """Return the model in an MJCF or URDF file as a slow plant.

    Parameters
    ----------
    file : str or Path
    name : str, optional
        Left out: the model's.
    channels : sequence of Channel
        What is controlled: measurements are the states.
    pushed : sequence of str
        Slide and hinge joints on which a disturbing force or torque acts, the disturbance ``push_<joint>``.
    regions : mapping of state to (low, high)
        Where a rollout counts as diverged.
    threads : int
        Of `mujoco.rollout`; 0: the calling thread. Results do not depend on it.
    **more
        Anything else that a :class:`plants.Plant` declares: `allocate`, `situations`, `outputs`, `entropy_rate`, ...

    Returns
    -------
    SlowPlant
        States: each joint's coordinates by its name, then the rates as ``<joint>_rate`` (free and ball joints: several,
        ``_x`` ... ``_qz``, ``_vx`` ... ``_wz``), then activations ``<actuator>_act``. The initial state is the first
        keyframe's, where there is one. Inputs: the actuators, inside their ``ctrlrange``. Entropy production: what the
        joints' damping and dry friction dissipate [W].

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a joint or an actuator has no name, or a name is not in the model.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    model = read_model(str(path))
    names = names_of(model)
    regions = dict(regions or {})
    _known("region of a state", regions, [label for label, _ in names])
    start = initial_of(model)
    states = tuple(
        Quantity(label, unit, float(x), *regions.get(label, (-math.inf, math.inf)))
        for (label, unit), x in zip(names, start, strict=True)
    )
    declared = {"text": f"MuJoCo model {path.name}.", "entropy_rate": _dissipated(model), "step": model.opt.timestep}
    plant = Plant(
        name=name or _text(model), states=states, inputs=_inputs(model), disturbances=_pushes(model, pushed),
        channels=tuple(channels), derivative=_not_here(path), **{**declared, **more},
    )  # fmt: skip
    settings = {"file": str(path), "pushed": list(pushed), "threads": threads}
    return SlowPlant(
        plant, "plants.adapters.mujoco_model:open_session", settings,
        together="plants.adapters.mujoco_model:open_batch",
    )  # fmt: skip


def _text(model: Any) -> str:
    return model.names[: model.names.find(b"\0")].decode() or "mujoco_model"


def _inputs(model: Any) -> tuple[Quantity, ...]:
    ranges = [
        model.actuator_ctrlrange[k] if model.actuator_ctrllimited[k] else (-math.inf, math.inf) for k in range(model.nu)
    ]
    return tuple(
        Quantity(model.actuator(k).name, "", 0.0, float(low), float(high)) for k, (low, high) in enumerate(ranges)
    )


def _pushes(model: Any, pushed: Sequence[str]) -> tuple[Quantity, ...]:
    kinds = {model.joint(k).name: int(model.joint(k).type[0]) for k in range(model.njnt)}
    movable = [name for name, kind in kinds.items() if kind in UNITS]
    _known("slide or hinge joint to push", pushed, movable)
    return tuple(Quantity(f"push_{name}", UNITS[kinds[name]][2]) for name in pushed)


def _known(what: str, given: Any, known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(unknown(what, name, known))


def _dissipated(model: Any) -> Callable[..., Any]:
    """Power lost in the joints' damping and dry friction [W], a block."""
    first = model.nq
    losses = [
        (first + k, float(model.dof_damping[k].item()), float(model.dof_frictionloss[k]))
        for k in range(model.nv) if model.dof_damping[k].any() or model.dof_frictionloss[k] > 0.0
    ]  # fmt: skip

    def entropy_rate(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        total: Any = 0.0
        for place, damping, friction in losses:
            rate = x[place]
            total = total + damping * rate * rate + (friction * magnitude(rate) if friction else 0.0)
        return total

    return entropy_rate


def _not_here(path: Path) -> Callable[..., Any]:
    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        raise TypeError(f"the rates of {path.name} are inside MuJoCo: it is a slow plant, moved step by step")

    return derivative
