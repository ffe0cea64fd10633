"""How the teaching signal was made, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.builders.case import BASELINE
from experiments.report.recorded import MOST
from experiments.report.records.learning import TeachingView
from experiments.report.records.situations import NotAvailable

if TYPE_CHECKING:
    from experiments.report.builders.case import FinishedDesign


def teaching(case: FinishedDesign) -> TeachingView | NotAvailable:
    """Return what the teaching signal's own file does not say about it."""
    signal, teacher = case.signal, case.setup.teacher
    if not len(signal):
        return NotAvailable("no window was taught")
    taught = [p.label for p in case.places if p.kind == "taught"]
    rounds = len(signal.situation_names) // len(taught)  # of teaching, the later ones along the knowledge base's runs
    labels = taught + [f"{label}, round {r}" for r in range(2, rounds + 1) for label in taught]
    left_out = max(len(np.unique(signal.situation)) - MOST, 0)
    share = float(np.average(signal.weight > 0.5))
    text = (
        f"Windows of {teacher.window:g} s; "
        + (f"gains judged {teacher.horizon:g} s ahead, " if teacher.encoding == "receding"
           else "gains of all windows searched at once and judged over the whole situation, ")
        + ("with the noise that really came (clairvoyant)" if signal.clairvoyant
           else f"over {teacher.continuations} continuations of the noise that might come")
        + ("" if rounds == 1 else f". {rounds} rounds, after the first one along the runs of the knowledge base before")
        + f". {len(signal)} windows, {100.0 * share:.0f} % of them with a weight above 0.5"
        + (f"; {left_out} more situations are in teaching_signal.csv" if left_out else "") + "."
    )  # fmt: skip
    learner = "imitation" if "imitation" in case.contenders else ""
    fixed = case.contenders[BASELINE].theta
    return TeachingView(tuple(labels), teacher.window, fixed, learner, BASELINE, text, rounds if learner else 0)
