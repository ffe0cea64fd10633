"""All measures of a controller in all situations, and the fitness of each rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sscq.closed_loop import ClosedLoop
from sscq.own_measures import all_measures
from sscq.quality import ALL_MEASURES, Quality
from sscq.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.judging.contender import Contender
    from experiments.ladder import Bench
    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.situation import Situation

MEASURES = ("diverged_at", *ALL_MEASURES)
"""Rows of a table of rollouts; those of the plant's own measures follow, see :func:`rows_of`."""


def rows_of(plant: Plant) -> tuple[str, ...]:
    """Return what the rows of a table of rollouts are."""
    return ("diverged_at", *all_measures(plant))


def rollouts(bench: Bench, contender: Contender, scale: float) -> dict[str, np.ndarray]:
    """All measures of one controller in each kind of situations [measure, seed, situation]; one kernel for all."""
    setup = bench.setup
    seeds = {kind: setup.repetitions(kind) for kind in KINDS}
    blocks = {kind: [s for number in range(seeds[kind]) for s in setup.repetition(kind, number)] for kind in KINDS}
    theta = contender.theta[None] if contender.per_situation is None else contender.per_situation
    quality = _quality(bench, contender, theta, [s for block in blocks.values() for s in block], scale)
    rows = rows_of(setup.plant)
    full = np.array([quality.diverged_at if m == "diverged_at" else quality.values[m] for m in rows])
    result, first, declared = {}, 0, 0
    for kind, block in blocks.items():
        n = len(setup.sets[kind])
        part = full[:, first : first + len(block)].reshape(len(rows), seeds[kind], n, len(theta))
        if contender.per_situation is None:
            result[kind] = np.ascontiguousarray(part[..., 0])
        else:  # each declared situation has its own row of parameters
            result[kind] = np.ascontiguousarray(np.diagonal(part[..., declared : declared + n], axis1=2, axis2=3))
        first += len(block)
        declared += n
    return result


def _quality(
    bench: Bench, contender: Contender, theta: np.ndarray, situations: Sequence[Situation], scale: float
) -> Quality:
    setup = bench.setup
    # Observed, as the responses that the report records: both use the same compiled kernel.
    loop = ClosedLoop(
        contender.plant or setup.plant, contender.controller, situations, setup.step, observe=True,
        measures=all_measures(setup.plant), entropy_scale=scale, **setup.options,
    )  # fmt: skip
    return loop.evaluate(np.atleast_2d(theta), setup.threads)


def fitness_of(bench: Bench, fitness: Fitness, kind: str, table: np.ndarray) -> np.ndarray:
    """Fitness of each rollout [seed, situation] from its measures."""
    n_seeds, n_situations = table.shape[1:]
    horizon = np.tile([s.t_end for s in bench.setup.sets[kind]], n_seeds)
    flat = table.reshape(len(table), -1)
    # Tables of older runs end before measures that the plant was given since.
    named = zip(rows_of(bench.setup.plant), flat, strict=False)
    values = {name: row[:, None] for name, row in named if name != "diverged_at"}
    quality = Quality(("",) * horizon.size, horizon, flat[0][:, None], values)
    return fitness.per_situation(quality)[:, 0].reshape(n_seeds, n_situations)
