"""Knowledge bases that were taught with delays, judged at delays inside and outside of what was taught."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.text_table import change

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.setup import Setup
    from flcs import KnowledgeBase

DELAYS = (0.0, 0.05, 0.1, 0.15, 0.16, 0.17, 0.18, 0.2, 0.25, 0.3)
_SEEDS = 10
_HEAD = ("delay [s]", "fixed PID", "knowledge base", "change", "giving way", "change", "share of its authority")


def lines(folders: Sequence[Path]) -> list[str]:
    """Return a table of mean fitness over finished designs as Markdown lines."""
    from experiments.launch import stored_settings
    from experiments.run_folder import read_record
    from experiments.setup import setup
    from flcs import KnowledgeBase

    cases = [
        (setup(stored_settings("design", read_record(f)["config"])), KnowledgeBase.load(f / "knowledge_base.json"))
        for f in folders
    ]
    out = [
        f"The same knowledge bases at delays that they were and were not taught, mean J of {len(cases)} designs,",
        f"{_SEEDS} seeds of each unforeseen situation. Giving way: outside the valid range the gains move to the",
        "reference gains, as `sscq evaluate` and `flcs.FuzzyController.under(delay=...)` do.", "",
        "| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|",
    ]  # fmt: skip
    for delay in DELAYS:
        values, shares = zip(*(_judged(job, kb, delay) for job, kb in cases), strict=True)
        base, own, giving = np.mean(values, axis=0)
        cells = (f"{delay:g}", f"{base:.2f}", f"{own:.2f}", change(own, base, "**loss**"), f"{giving:.2f}",
                 change(giving, base, "**loss**"), f"{np.mean(shares):.2f}")  # fmt: skip
        out.append("| " + " | ".join(cells) + " |")
    return [*out, ""]


def _judged(job: Setup, kb: KnowledgeBase, delay: float) -> tuple[tuple[float, float, float], float]:
    """Mean fitness of reference gains, knowledge base and knowledge base that gives way; the share that is left."""
    from controllers import ConstantGains, Controller, gain_names
    from flcs import FuzzyController
    from flcs.valid_range import share

    several = [replace(s, delay=delay) for n in range(_SEEDS) for s in job.repetition("unforeseen", n)]
    task = job.task().on(several)
    constant = Controller(job.laws, ConstantGains(gain_names(job.laws)))
    fuzzy = FuzzyController(kb, laws=job.laws)
    reference = np.array([gain for base in kb.channels for gain in base.reference])

    def mean(controller: Controller | FuzzyController, theta: np.ndarray) -> float:
        return float(job.fitness.per_situation(task.quality(controller, theta[None])).mean())

    kept = share(kb, {"delay": delay})
    own = mean(fuzzy, fuzzy.theta)
    giving = own if kept == 1.0 else mean(fuzzy.under(delay=delay), fuzzy.theta)
    return (mean(constant, reference), own, giving), kept
