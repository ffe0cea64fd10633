"""Fitted models as plants, and as plant files: what a design is made on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.registry import in_full
from plants.linear import linear_plant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.surrogate.grey_fit import GreyFit
    from experiments.surrogate.linear_fit import LinearFit
    from plants import Channel, Plant

    Array = NDArray[np.float64]

_USUAL = ((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))  # a channel's box of gains where nobody gave one
_KP, _KD = 10.0, 3.0  # the box's size in inverse gains of the plant, kd's in its time constant as well


def linear(name: str, fit: LinearFit, like: Plant, step: float) -> tuple[Plant, str]:
    """Return a linear model as a plant, and the text of a file that gives the same plant."""
    channels = [_boxed(c, fit, i, like, step) for i, c in enumerate(like.channels)]
    numbers: dict[str, Any] = {
        "A": fit.A.tolist(), "B": fit.B.tolist(), "C": fit.C.tolist(), "offset": fit.offset.tolist(),
        "initial": fit.initial.tolist(), "dead_time": fit.late * step, "step": step,
        "text": f"Linear model of order {fit.order}, fitted to runs of {like.name}",
    }  # fmt: skip
    named: dict[str, Any] = {
        "inputs": tuple(like.inputs),
        "measurements": tuple(like.measurements),
        "channels": tuple(channels),
    }
    plant = linear_plant(name, **numbers, **named)
    lines = [f"    {key}={value!r}," for key, value in (numbers | named).items()]
    text = "\n".join([
        f'"""{numbers["text"]}."""', "", "from math import inf", "", "import plants",
        "from plants import Channel, Quantity", "from plants.linear import linear_plant", "",
        "plants.register(linear_plant(", f"    {name!r},", *lines, "))", "",
    ])  # fmt: skip
    return plant, text


def grey(name: str, fit: GreyFit) -> tuple[Plant, str]:
    """Return a plant with fitted parameters under a name of its own, and the text of a file that gives it."""
    text = "\n".join([
        f'"""{fit.plant.name} with parameters fitted to runs of a slow plant."""', "",
        "from dataclasses import replace", "", "import plants", "", f"FITTED = {fit.values!r}",
        f"fitted = plants.with_parameters(plants.get({in_full(fit.plant.name)!r}), FITTED)",
        f"fitted = replace(fitted, name={name!r})", "",
    ])  # fmt: skip
    return replace(fit.plant, name=name), text


def _boxed(channel: Channel, fit: LinearFit, place: int, like: Plant, step: float) -> Channel:
    """The channel with a box of gains sized by the model, unless the declaration gives one."""
    if (channel.gains_low, channel.gains_high) != _USUAL:
        return channel
    output = like.index("measurements", channel.output)
    gain, T = _character(fit, output, place, step)
    ends = (_KP / gain, _KP / (gain * T), _KD * T / gain)
    kp, ki, kd = (float(f"{abs(end):.2g}") for end in ends)
    none = (0.0, 0.0, 0.0)
    if gain > 0.0:
        return replace(channel, gains_low=none, gains_high=(kp, ki, kd))
    return replace(channel, gains_low=(-kp, -ki, -kd), gains_high=none)


def _character(fit: LinearFit, output: int, place: int, step: float) -> tuple[float, float]:
    """Gain and time constant of one output: the slowest mode that decays; an integrator's gain is at that frequency."""
    poles = np.linalg.eigvals(fit.A)
    decaying = -poles.real[poles.real < -1e-9 / step]
    T = float(1.0 / decaying.min()) if decaying.size else 100.0 * step
    s = 0.0 if np.abs(poles).min() * T > 1e-3 else 1.0 / T
    response = fit.C @ np.linalg.solve(s * np.eye(len(fit.A)) - fit.A, fit.B)
    gain = float(response[output, place])
    return (gain if abs(gain) > 1e-12 else 1.0), T
