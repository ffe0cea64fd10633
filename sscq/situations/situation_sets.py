"""Sets of situations: a plant's own task, or one made from its channels; other seeds, other plants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.situations.generic_task import generic_task
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants import Plant


KINDS = ("taught", "validation", "unforeseen")
SEED_STRIDE = 1_000  # between repetitions, so that neighbouring seeds of a task do not meet


def standard_sets(plant: Plant) -> dict[str, tuple[Situation, ...]]:
    """Return taught, validation and unforeseen situations of a plant: its own, or made from its channels."""
    given: Mapping[str, Sequence[Mapping[str, Any]]] = plant.situations or generic_task(plant)
    unknown = set(given) - set(KINDS)
    if unknown:
        message = f"plant {plant.name!r}: situations are {', '.join(KINDS)}; got {', '.join(sorted(unknown))}"
        raise ValueError(message)
    sets = {kind: tuple(Situation(**arguments) for arguments in given.get(kind, ())) for kind in KINDS}
    if not sets["taught"]:
        message = f"plant {plant.name!r}: its task has no taught situations"
        raise ValueError(message)
    return {kind: sets[kind] or sets["taught"] for kind in KINDS}


def repeated(situations: Sequence[Situation], number: int) -> tuple[Situation, ...]:
    """Return the same situations with the seeds of repetition `number`; number 0 is the situations themselves."""
    return tuple(replace(s, seed=s.seed + SEED_STRIDE * number) for s in situations)


def varied(
    plant: Plant, situations: Sequence[Situation], spread: float, count: int, seed: int
) -> tuple[Situation, ...]:
    """Return the situations for `count` plants whose parameters are spread uniformly by +-`spread` (relative).

    No parameter leaves its bounds. Every situation and plant gets a name of its own, so that their noise differs.
    """
    if count < 1 or not 0.0 <= spread < 1.0:
        message = f"varied plants need a count of at least 1 and a spread in [0, 1), got {count} and {spread}"
        raise ValueError(message)
    rng = np.random.Generator(np.random.PCG64(seed))
    names = [q.name for q in plant.parameters]
    low, high = (np.array([getattr(q, end) for q in plant.parameters]) for end in ("low", "high"))
    result = []
    for number in range(count):
        factors = 1.0 + spread * rng.uniform(-1.0, 1.0, len(names))
        for situation in situations:
            values = np.array(plant.values("parameters", situation.parameters)) * factors
            parameters = dict(zip(names, np.clip(values, low, high).tolist(), strict=True))
            result.append(replace(situation, name=f"{situation.name}, plant {number + 1}", parameters=parameters))
    return tuple(result)


def at_delays(situations: Sequence[Situation], spans: Mapping[str, Sequence[float]]) -> tuple[Situation, ...]:
    """Return situations, and each of them with the least and with the largest delays behind them.

    Parameters
    ----------
    spans : mapping of "delay", "output_delay" to (least, largest)
        In seconds; what is not named stays.
    """
    ends: list[dict[str, Any]] = [{name: float(span[k]) for name, span in spans.items()} for k in (0, 1)]
    known = ends[:1] if ends[0] == ends[1] else ends
    return (*situations, *(replace(s, **change) for change in known if change for s in situations))
