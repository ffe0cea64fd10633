"""Rollouts of the verdict: every controller in every kind of situations, and their fitness.

Tables are arrays [measure, seed, situation], measures in the order of :func:`rows_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controllers import gain_names
from experiments.settings.ranges import CHOOSING
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import DAMPED, all_measures
from sscq.loop.quality import ALL_MEASURES, Quality

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controllers import PID
    from experiments.pipeline.bench import Bench
    from experiments.settings import Setup
    from plants import Plant
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.situations.situation import Situation

LADDER = (
    "own", "rule", "fixed", "given", "two_degree", "table", "margin_table", "margin_table_fine", "hand_made",
    "hand_made_scaled", "knowledge_base_direct", "knowledge_base",
)  # fmt: skip
"""What may be recommended, simplest first; laws of the plant's own field stand after the fixed PID."""

RIVAL = "rival_"
"""Names of contenders that are laws of the plant's own field begin with it."""


def recommendable(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that may be recommended, simplest first."""
    given = list(names)
    rivals = [name for name in given if name.startswith(RIVAL)]
    last = LADDER.index("fixed") + 1
    return tuple(name for name in (*LADDER[:last], *rivals, *LADDER[last:]) if name in given)


MEASURES = ("diverged_at", *ALL_MEASURES)
"""Rows of a table of rollouts; those of the plant's own measures follow, see :func:`rows_of`."""


def rows_of(plant: Plant) -> tuple[str, ...]:
    """Return what the rows of a table of rollouts are."""
    return ("diverged_at", *all_measures(plant))


OF_DAMPERS = "damped"  # tables of the measure of that name have it behind the kind


def rollouts(
    bench: Bench,
    contender: Tuned,
    scale: float,
    wanted: Sequence[str] | None = None,
    damping: Sequence[float] = (),
) -> dict[str, np.ndarray]:
    """All measures of one controller in each kind of situations [measure, seed, situation]; one kernel for all.

    Of the `wanted` kinds; left out, of all, and for what may be recommended of those in which the choice is made. With
    the `damping` of each channel also the measure :data:`sscq.loop.measures.DAMPED` [seed, situation], "KIND.damped".
    """
    setup = bench.setup
    kinds = list(wanted or _kinds(setup, contender))
    seeds = {kind: setup.repetitions(kind) for kind in kinds}
    blocks = {kind: [s for number in range(seeds[kind]) for s in setup.repetition(kind, number)] for kind in kinds}
    theta = contender.theta[None] if contender.per_situation is None else contender.per_situation
    quality = quality_in(bench, contender, theta, [s for block in blocks.values() for s in block], scale, damping)
    rows = (*rows_of(setup.plant), DAMPED)
    full = np.array([quality.diverged_at if m == "diverged_at" else quality.until_lost[m] for m in rows])
    result, first, declared = {}, 0, 0
    for kind, block in blocks.items():
        n = len(block) // seeds[kind]
        part = full[:, first : first + len(block)].reshape(len(rows), seeds[kind], n, len(theta))
        if contender.per_situation is None:
            found = np.ascontiguousarray(part[..., 0])
        else:  # each declared situation has its own row of parameters
            found = np.ascontiguousarray(np.diagonal(part[..., declared : declared + n], axis1=2, axis2=3))
        result[kind] = found[:-1]
        if damping:
            result[f"{kind}.{OF_DAMPERS}"] = found[-1]
        first += len(block)
        declared += n
    return result


def _kinds(setup: Setup, contender: Tuned) -> list[str]:
    """Kinds of situations that a contender meets."""
    if contender.per_situation is not None:  # an oracle has parameters for each of the declared situations alone
        return [kind for kind in setup.sets if kind != "drawn"]
    chosen = [CHOOSING] if setup.repetition(CHOOSING, 0) and recommendable([contender.name]) else []
    return [*setup.sets, *chosen]


def damping_of(fixed: Tuned, laws: Sequence[PID], plant: Plant, scale: float) -> tuple[float, ...]:
    """Return the damping of each channel by the derivative action of fixed gains, counted as the measures count it."""
    kd = [gain for name, gain in zip(gain_names(laws), fixed.theta, strict=True) if name.startswith("kd")]
    if len(kd) != len(plant.channels):
        return ()
    pairs = zip(kd, plant.channels, strict=True)
    return tuple(scale * float(abs(gain) if channel.opposed else gain) for gain, channel in pairs)


def quality_in(
    bench: Bench,
    contender: Tuned,
    theta: np.ndarray,
    situations: Sequence[Situation],
    scale: float,
    damping: Sequence[float] = (),
) -> Quality:
    """Return all measures of one controller with parameters [n, n_theta] in situations, by the verdict's kernel."""
    setup = bench.setup
    # Observed, as the responses that the report records: both use the same compiled kernel.
    loop = ClosedLoop(
        contender.plant or setup.plant, contender.controller, situations, setup.step, observe=True,
        measures=all_measures(setup.plant), entropy_scale=scale, damping=damping, **setup.options,
    )  # fmt: skip
    return loop.evaluate(np.atleast_2d(theta), setup.threads)


def fitness_of(
    bench: Bench, fitness: Fitness, kind: str, table: np.ndarray, damped: np.ndarray | None = None
) -> np.ndarray:
    """Fitness of each rollout [seed, situation] from its measures; `damped` [seed, situation]: with such an entropy."""
    n_seeds, n_situations = table.shape[1:]
    horizon = np.tile([s.t_end for s in bench.setup.repetition(kind, 0)], n_seeds)
    flat = table.reshape(len(table), -1)
    # Tables of older runs end before measures that the plant was given since.
    named = zip(rows_of(bench.setup.plant), flat, strict=False)
    values = {name: row[:, None] for name, row in named if name != "diverged_at"}
    if damped is not None:
        values["entropy_difference_abs"] = damped.reshape(-1, 1)
    quality = Quality(("",) * horizon.size, horizon, flat[0][:, None], values)
    return fitness.per_situation(quality)[:, 0].reshape(n_seeds, n_situations)
