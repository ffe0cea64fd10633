"""A MuJoCo model as a plant: its own solver moves it, many rollouts at a time (`mujoco.rollout`).

Inputs and disturbances are held over a step of the loop, which is a whole number of the model's time steps.

Source: E. Todorov, T. Erez, Y. Tassa, MuJoCo: a physics engine for model-based control, IEEE/RSJ Int. Conf. on
Intelligent Robots and Systems (2012) 5026.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plants.adapters.mujoco_motion import UNITS, initial_of, names_of, read_model
from plants.core.elementary import abs as magnitude
from plants.core.plant import Plant, Quantity
from plants.core.slow import SlowPlant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.plant import Channel


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
        plant, "plants.adapters.mujoco_motion:open_session", settings,
        together="plants.adapters.mujoco_motion:open_batch",
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
    from plants.core.naming import unknown

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
