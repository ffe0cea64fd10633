"""Sets of situations: a plant's own task, a task made from its channels, other seeds, other plants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.excitation import WhiteNoise
from sscq.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants import Plant

KINDS = ("taught", "validation", "unforeseen")
SEED_STRIDE = 1_000  # between repetitions, so that neighbouring seeds of a task do not meet


def standard_sets(plant: Plant) -> dict[str, tuple[Situation, ...]]:
    """Return taught, validation and unforeseen situations of a plant: its own, or made from its channels."""
    given: Mapping[str, Sequence[Mapping[str, Any]]] = plant.situations or _from_channels(plant)
    unknown = set(given) - set(KINDS)
    if unknown:
        message = f"plant {plant.name!r}: situations are {', '.join(KINDS)}; got {', '.join(sorted(unknown))}"
        raise ValueError(message)
    sets = {kind: tuple(Situation(**arguments) for arguments in given.get(kind, ())) for kind in KINDS}
    if not sets["taught"]:
        message = f"plant {plant.name!r}: its task has no taught situations"
        raise ValueError(message)
    return {kind: sets[kind] or sets["taught"] for kind in KINDS}


def _from_channels(plant: Plant) -> dict[str, list[dict[str, Any]]]:
    """Steps by the channels' scale from the nominal state, and returns to it; noise of the disturbances' nominal size.

    A disturbance whose nominal value is 0 is left out: nothing is known of its size.
    """
    if not plant.channels:
        message = f"plant {plant.name!r} has no control channels, so no situations can be made from them"
        raise ValueError(message)
    rest = _rest(plant)
    noise = {q.name: WhiteNoise(q.nominal**2, hold=0.1) for q in plant.disturbances if q.nominal > 0.0}

    def situation(name: str, size: float, seed: int, factor: float = 1.0, **more: Any) -> dict[str, Any]:
        reference = {c.output: rest[c.output] + size * c.scale for c in plant.channels}
        louder = {k: WhiteNoise(factor * part.variance, part.hold) for k, part in noise.items()}
        return {"name": name, "reference": reference, "excitation": louder, "seed": seed, **more}

    return {
        "taught": [
            situation("step up", 1.0, 1), situation("step down", -1.0, 2), situation("small step", 0.3, 3),
            situation("rest", 0.0, 4),
        ],
        "validation": [situation("larger step", 1.3, 6), situation("negative step", -0.6, 7)],
        "unforeseen": [
            situation("far step", 1.6, 11), situation("far step down", -1.6, 12),
            situation("doubled noise", 1.0, 13, factor=2.0), situation("delayed command", -1.0, 14, delay=0.02),
        ],
    }  # fmt: skip


def _rest(plant: Plant) -> dict[str, float]:
    """Return the channel outputs at the first operating point, else at the nominal state."""
    state = plant.operating_points[0].state if plant.operating_points else plant.initial()
    u, w = (tuple(q.nominal for q in plant.inputs)), (0.0,) * len(plant.disturbances)
    outputs = plant.outputs(0.0, tuple(state), u, w, plant.nominal())
    return {c.output: float(outputs[plant.index("measurements", c.output)]) for c in plant.channels}


def repeated(situations: Sequence[Situation], number: int) -> tuple[Situation, ...]:
    """Return the same situations with the seeds of repetition `number`; number 0 is the situations themselves."""
    return tuple(replace(s, seed=s.seed + SEED_STRIDE * number) for s in situations)


def varied(
    plant: Plant, situations: Sequence[Situation], spread: float, count: int, seed: int
) -> tuple[Situation, ...]:
    """Return the situations for `count` plants whose parameters are spread uniformly by +-`spread` (relative).

    Every situation and plant gets a name of its own, so that their noise differs.
    """
    if count < 1 or not 0.0 <= spread < 1.0:
        message = f"varied plants need a count of at least 1 and a spread in [0, 1), got {count} and {spread}"
        raise ValueError(message)
    rng = np.random.Generator(np.random.PCG64(seed))
    names = [q.name for q in plant.parameters]
    result = []
    for number in range(count):
        factors = 1.0 + spread * rng.uniform(-1.0, 1.0, len(names))
        for situation in situations:
            values = np.array(plant.values("parameters", situation.parameters)) * factors
            parameters = dict(zip(names, values.tolist(), strict=True))
            result.append(replace(situation, name=f"{situation.name}, plant {number + 1}", parameters=parameters))
    return tuple(result)


def with_real_loop(situations: Sequence[Situation], **changes: Any) -> tuple[Situation, ...]:
    """Return the situations with other sensor noise, delays or limits."""
    return tuple(replace(s, **changes) for s in situations)
