"""How the searches of a run went on, from the results that its stages left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline import search_results
from experiments.report.drawing.numbers import count
from experiments.report.records.report_data import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.report.records.situations import Array
    from sscq.baselines.tuned import Tuned
    from sscq.search.history import GenerationHistory

    Method = tuple[str, GenerationHistory]

STAGES = {
    "fixed_genetic": "fixed", "fixed_cmaes": "fixed", "two_degree": "two_degree", "tables": "table",
    "hand_made_scaled": "hand_made_scaled", "lqi": "lqi", "knowledge_base_direct": "knowledge_base_direct",
    "knowledge_base_equal": "knowledge_base", "knowledge_base_free": "knowledge_base_free",
}  # fmt: skip
"""Stages that search, and the controllers that they serve, in the order of the run."""

_ORIGINS = [" from the imitated rules", " from the reference gains"]  # where the refinement begins, in this order
_METHODS = {
    "GeneticAlgorithm": "genetic algorithm",
    "CmaEs": "CMA-ES",
    "DifferentialEvolution": "differential evolution",
}


def histories(run: Path, titles: Mapping[str, str]) -> tuple[SearchHistory, ...]:
    """Return the searches of all rungs of the ladder and of the refinements, in the order of the run.

    Parameters
    ----------
    run : Path
        Folder of the run.
    titles : mapping of controller key to str
        What the controllers that were judged are called.
    """
    found: list[SearchHistory] = []
    for stage, key in STAGES.items():
        folder = run / "stages" / stage
        for entry in search_results.load(folder) if folder.is_dir() else []:
            # Several tables are searched; the one that was judged has the controller's title.
            served = "" if key == "table" and titles[key] != entry.title else key
            found += of_entry(entry, served)
    return tuple(found)


def of_entry(entry: Tuned, key: str) -> list[SearchHistory]:
    """Return the searches behind an entry: one, or several that began at different places and shared the budget."""
    parts: list[list[Method]] = []
    labels: list[str] = []
    for name, history in entry.histories:
        label, method = search_results.parted(name)
        if not parts or method == parts[-1][0][0] or label != labels[-1]:
            parts.append([])
            labels.append(label)
        parts[-1].append((method, history))
    origins = _ORIGINS if len(parts) == len(_ORIGINS) else [f", search {n + 1}" for n in range(len(parts))]
    if any(labels):
        origins = [f" {label}" if label.startswith("from") else f", {label}" for label in labels]
    names = [entry.title + (origin if len(parts) > 1 else "") for origin in origins]
    found = [_history(key, name, part) for name, part in zip(names, parts, strict=False)]
    return [history for history in found if history is not None]


def _history(key: str, name: str, part: Sequence[Method]) -> SearchHistory | None:
    """One search; methods that follow one another count their evaluations on."""
    columns: dict[str, list[Array]] = {"evaluations": [], "best": [], "mean": []}
    spent = 0.0
    used: list[tuple[str, str]] = []
    for method, history in part:
        if not len(history.evaluations):
            continue
        columns["evaluations"].append(spent + history.evaluations)
        columns["best"].append(history.best)
        columns["mean"].append(history.mean)
        used.append((method_words(method), count(float(history.evaluations[-1]))))
        spent += float(history.evaluations[-1])
    if not used:
        return None
    evaluations, best, mean = (np.concatenate(parts).astype(float) for parts in columns.values())
    return SearchHistory(
        name=f"{name}: {', then '.join(method for method, _ in used)}",
        controller=key,
        evaluations=evaluations,
        best=np.minimum.accumulate(best),
        mean=mean if key else None,
        text=", ".join(f"{method} {number}" for method, number in used),
    )


def method_words(name: str) -> str:
    """Return the name of a search method in words."""
    return _METHODS.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
