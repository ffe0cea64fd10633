"""Further rungs of the ladder: what other schools of control would build for the same plant and task.

One file a rung; `further` puts those together that the settings ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.pipeline.rungs import given, rival
from experiments.pipeline.rungs.rung import Rungs

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.pipeline.bench import Bench
    from flcs import KnowledgeBase
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

    Starts = Callable[[KnowledgeBase], tuple[KnowledgeBase, ...]]

__all__ = ["Rungs", "further"]


def _no_starts(_: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
    return ()


def further(bench: Bench, fixed: Tuned, equal: Fitness, imitated: KnowledgeBase, starts: Starts = _no_starts) -> Rungs:
    """Return laws of the plant's own field, a knowledge base given as start, and the rungs that the settings ask for.

    Parameters
    ----------
    bench, fixed
        The run, and its best fixed PID.
    equal : Fitness
        With the limit on the actuator's travel that all schedules have.
    imitated : KnowledgeBase
        Whose structure the knowledge base without imitation shares.
    starts : callable
        Where searches of a structure start besides.
    """
    wanted = bench.setup.config.ladder.further
    own = rival.rungs(bench, fixed, equal) + given.rungs(bench)
    if not wanted:
        return own
    from experiments.pipeline.rungs import direct, hand_made, lqi, margin_table

    makers = {
        "margin_table": lambda: margin_table.rungs(bench),
        "hand_made": lambda: hand_made.rungs(bench, fixed, equal),
        "lqi": lambda: lqi.rungs(bench, fixed, equal),
        "direct": lambda: direct.rungs(bench, fixed, equal, imitated, starts),
    }
    return sum((make() for name, make in makers.items() if name in wanted or "all" in wanted), own)
