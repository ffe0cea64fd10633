"""Search results and knowledge bases on disk: what a stage of the ladder saves and reads back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from flcs import KnowledgeBase
from sscq.baselines.tuned import Tuned
from sscq.search.history import GenerationHistory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.runtime.formats import StageFile
    from sscq.baselines.candidates import Candidate

_COLUMNS = ("generation", "evaluations", "best", "mean")


def labelled(one: Tuned, label: str) -> Tuned:
    """Return the entry with a label at its histories: which search of several they are."""
    return replace(one, histories=tuple((f"{label}|{method}", history) for method, history in one.histories))


def parted(name: str) -> tuple[str, str]:
    """Return label (may be empty) and method of a history's name."""
    label, _, method = name.rpartition("|")
    return label, method


def save(folder: Path, entries: Sequence[Tuned]) -> None:
    """Write entries into an empty folder."""
    heads, arrays = [], {}
    for i, one in enumerate(entries):
        heads.append(
            {
                "name": one.name, "title": one.title, "fitness": one.fitness, "evaluations": one.evaluations,
                "methods": [name for name, _ in one.histories],
            }
        )  # fmt: skip
        arrays[f"{i}.theta"] = one.theta
        for j, (_, history) in enumerate(one.histories):
            arrays |= {f"{i}.{j}.{column}": np.asarray(getattr(history, column)) for column in _COLUMNS}
    formats.write_json(folder / "entries.json", {"schema": "sscq-searches", "version": 1, "entries": heads})
    formats.write_npz(folder / "entries.npz", arrays)


def load(folder: Path, candidates: Sequence[Candidate] = ()) -> list[Tuned]:
    """Read entries back; with the candidates that were searched, in their order, as controllers again."""
    heads: list[dict[str, Any]] = formats.read_json(folder / "entries.json", "sscq-searches", 1)["entries"]
    arrays = formats.read_npz(folder / "entries.npz")
    entries = []
    for i, head in enumerate(heads):
        histories = tuple(
            (name, GenerationHistory(**{column: arrays[f"{i}.{j}.{column}"] for column in _COLUMNS}))
            for j, name in enumerate(head["methods"])
        )
        entries.append(
            Tuned(
                head["name"],
                head["title"],
                theta=arrays[f"{i}.theta"],
                evaluations=head["evaluations"],
                fitness=head["fitness"],
                histories=histories,
            )
        )
    if not candidates:
        return entries
    return [_controlled(one, candidate) for one, candidate in zip(entries, candidates, strict=True)]


def _controlled(one: Tuned, candidate: Candidate) -> Tuned:
    return replace(one, controller=candidate.controller, parameters=len(candidate.low), margins_asked=True)


ONE: StageFile = (lambda folder, entry: save(folder, [entry]), lambda folder: load(folder)[0])
"""A stage that gives one entry."""

_KB = "knowledge_base.json"
KB: StageFile = (lambda folder, kb: kb.save(folder / _KB), lambda folder: KnowledgeBase.load(folder / _KB))
"""A stage that gives a knowledge base."""


def _save_refined(folder: Path, result: tuple[KnowledgeBase, Tuned]) -> None:
    KB[0](folder, result[0])
    save(folder, [result[1]])


REFINED: StageFile = (_save_refined, lambda folder: (KB[1](folder), load(folder)[0]))
"""A stage that gives a knowledge base, and how it was found."""
