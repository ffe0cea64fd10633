"""Whether a plant is its own mirror image: whatever holds on one side then holds on the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.blocks import BlockSample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.plant import Plant

_POINTS = 64
_ROUNDING = 1e-9  # of the largest value: signs go through all operations but sums of unlike order


def is_odd(plant: Plant) -> bool:
    """Return whether the plant without disturbances is odd, with its inputs, channels and limits.

    f(t, -x, -u) = -f(t, x, u), and so for `after_step`; the controlled outputs and their rates change sign with the
    state, and the command limits are alike on both sides. Tested at random states inside the bounds, at nominal
    parameters.

    Parameters
    ----------
    plant : Plant
    """
    if plant.derivative is None or not all(_alike(c.low, c.high) for c in plant.channels):
        return False
    if not all(_alike(q.low, q.high) for q in (*plant.states, *plant.inputs)):
        return False
    sample = BlockSample.draw(plant, _POINTS, np.random.default_rng(0))
    rest = tuple(np.full(_POINTS, value) for value in plant.calm())
    there = _values(plant, sample.t, tuple(sample.x), tuple(sample.u), rest, tuple(sample.p))
    back = _values(plant, sample.t, tuple(-sample.x), tuple(-sample.u), rest, tuple(sample.p))
    return bool(np.all(np.abs(there + back) <= _ROUNDING * np.abs(there).max(axis=1, keepdims=True)))


def _alike(low: float, high: float) -> bool:
    return low == -high or (math.isinf(low) and math.isinf(high))


def _values(
    plant: Plant, t: np.ndarray, x: Sequence[np.ndarray], u: Sequence[np.ndarray], w: Sequence[np.ndarray],
    p: Sequence[np.ndarray],
) -> np.ndarray:  # fmt: skip
    """State rates, controlled outputs and their rates, states after a step [n, n_points]."""
    names = [name for c in plant.channels for name in (c.output, c.rate) if name is not None]
    outputs = plant.outputs(t, x, u, w, p)
    rates = plant.derivative(t, x, u, w, p) if plant.derivative is not None else ()
    chosen = [outputs[plant.index("measurements", name)] for name in names]
    after = plant.after_step(t, x, u, w, p, plant.step) if plant.after_step is not None else ()
    return np.array([np.broadcast_to(np.asarray(v, float), t.shape) for v in (*rates, *chosen, *after)])
