"""How the controllers were found: histories of all searches, and the teaching signal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from experiments import found_files
from experiments.report import NotAvailable, SearchHistory, TaughtTrack, TeachingView
from experiments.report.numbers import count
from experiments.reporting.case import BASELINE
from experiments.reporting.recording import MOST
from flcs import TeachingRows
from flcs.imitation import arranged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.found_files import Entry
    from experiments.reporting.case import Array, Case

    Method = tuple[str, dict[str, Array]]

_STAGES = {
    "fixed_genetic": BASELINE, "fixed_cmaes": BASELINE, "two_degree": "two_degree", "tables": "table",
    "hand_made_scaled": "hand_made_scaled", "lqi": "lqi", "knowledge_base_direct": "knowledge_base_direct",
}  # fmt: skip
_ORIGINS = [" from the imitated rules", " from the reference gains"]  # where the refinement begins, in this order
_METHODS = {
    "GeneticAlgorithm": "genetic algorithm",
    "CmaEs": "CMA-ES",
    "DifferentialEvolution": "differential evolution",
}


def searches(case: Case) -> tuple[SearchHistory, ...]:
    """Return the histories of all rungs of the ladder and of the refinements, in the order of the run."""
    found: list[SearchHistory] = []
    for stage, key in _STAGES.items():
        folder = case.bench.folder.path / "stages" / stage
        for entry in found_files.load(folder) if folder.is_dir() else []:
            found += _histories(case, entry, key)
    for kind, result in case.refined.items():
        key = "knowledge_base" if kind == "equal" else f"knowledge_base_{kind}"
        found += _histories(case, result.entry, key)
    return tuple(found)


def _histories(case: Case, entry: Entry, key: str) -> list[SearchHistory]:
    """The searches behind an entry: one, or several that began at different places and shared the budget."""
    parts: list[list[Method]] = []
    labels: list[str] = []
    for name, history in entry.histories:
        label, method = found_files.parted(name)
        if not parts or method == parts[-1][0][0] or label != labels[-1]:
            parts.append([])
            labels.append(label)
        parts[-1].append((method, history))
    origins = _ORIGINS if len(parts) == len(_ORIGINS) else [f", search {n + 1}" for n in range(len(parts))]
    if any(labels):
        origins = [f" {label}" if label.startswith("from") else f", {label}" for label in labels]
    names = [entry.title + (origin if len(parts) > 1 else "") for origin in origins]
    found = [_history(case, entry, key, name, part) for name, part in zip(names, parts, strict=False)]
    return [history for history in found if history is not None]


def _history(case: Case, entry: Entry, key: str, name: str, part: Sequence[Method]) -> SearchHistory | None:
    """One search; methods that follow one another count their evaluations on."""
    columns: dict[str, list[Array]] = {"evaluations": [], "best": [], "mean": []}
    spent = 0.0
    used: list[tuple[str, str]] = []
    for method, history in part:
        if not len(history["evaluations"]):
            continue
        columns["evaluations"].append(spent + history["evaluations"])
        columns["best"].append(history["best"])
        columns["mean"].append(history["mean"])
        used.append((method_words(method), count(float(history["evaluations"][-1]))))
        spent += float(history["evaluations"][-1])
    if not used:
        return None
    evaluations, best, mean = (np.concatenate(parts).astype(float) for parts in columns.values())
    # Several tables are searched; the one that was judged has the contender's title.
    served = "" if key == "table" and case.contenders[key].title != entry.title else key
    return SearchHistory(
        name=f"{name}: {', then '.join(method for method, _ in used)}",
        controller=served,
        evaluations=evaluations,
        best=np.minimum.accumulate(best),
        mean=mean if served else None,
        text=", ".join(f"{method} {number}" for method, number in used),
    )


def method_words(name: str) -> str:
    """Return the name of a search method in words."""
    return _METHODS.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def teaching(case: Case) -> TeachingView | NotAvailable:
    """Return the teaching signal with what the network made of it."""
    signal, teacher = case.signal, case.setup.teacher
    if not len(signal):
        return NotAvailable("no window was taught")
    imitated = _imitated(case)
    fixed = case.contenders[BASELINE].theta
    taught = [p.label for p in case.places if p.kind == "taught"]
    rounds = len(signal.situation_names) // len(taught)  # of teaching, the later ones along the knowledge base's runs
    labels = taught + [f"{label}, round {r}" for r in range(2, rounds + 1) for label in taught]
    tracks = []
    for i in np.unique(signal.situation).tolist()[:MOST]:
        rows = signal.situation == i
        tracks.append(
            TaughtTrack(labels[i], signal.time[rows], signal.gains[rows], signal.weight[rows],
                        None if imitated is None else imitated[rows])
        )  # fmt: skip
    left_out = len(np.unique(signal.situation)) - len(tracks)
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
    return TeachingView(tuple(tracks), signal.gain_names, teacher.window, fixed, "imitation", BASELINE, text)


def _imitated(case: Case) -> Array | None:
    """Gains of the knowledge base by imitation for the inputs of the teaching signal [n, n_gains]."""
    if "imitation" not in case.contenders:
        return None
    kb = case.contenders["imitation"].controller.kb
    return np.asarray(kb.gains(arranged(kb, TeachingRows.of(case.signal)).inputs))
