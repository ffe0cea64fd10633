"""Search results on disk: what a stage of the ladder saves and reads back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sscq.baselines.search_plan import Found

_COLUMNS = ("generation", "evaluations", "best", "mean")


@dataclass(frozen=True)
class Entry:
    """A searched controller as a run keeps it.

    Attributes
    ----------
    name, title : str
    theta : ndarray [n_theta]
        Schedule parameters.
    fitness : float
        On the taught situations as the search saw it.
    evaluations : int
    histories : tuple of (method, mapping of column to ndarray)
        Where several searches are behind the entry, "label|method".
    """

    name: str
    title: str
    theta: np.ndarray
    fitness: float
    evaluations: int
    histories: tuple[tuple[str, dict[str, np.ndarray]], ...] = ()


def entry(found: Found) -> Entry:
    """Return what is kept of a search result."""
    histories = tuple(
        (name, {column: np.asarray(getattr(history, column)) for column in _COLUMNS})
        for name, history in found.histories
    )
    candidate = found.candidate
    return Entry(candidate.name, candidate.title, found.theta, found.fitness, found.evaluations, histories)


def labelled(one: Entry, label: str) -> Entry:
    """Return the entry with a label at its histories: which search of several they are."""
    return replace(one, histories=tuple((f"{label}|{method}", history) for method, history in one.histories))


def parted(name: str) -> tuple[str, str]:
    """Return label (may be empty) and method of a history's name."""
    label, _, method = name.rpartition("|")
    return label, method


def save(folder: Path, entries: Sequence[Entry]) -> None:
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
        for j, (_, columns) in enumerate(one.histories):
            arrays |= {f"{i}.{j}.{column}": values for column, values in columns.items()}
    formats.write_json(folder / "entries.json", {"schema": "sscq-searches", "version": 1, "entries": heads})
    formats.write_npz(folder / "entries.npz", arrays)


def load(folder: Path) -> list[Entry]:
    """Read entries back."""
    heads: list[dict[str, Any]] = formats.read_json(folder / "entries.json", "sscq-searches", 1)["entries"]
    arrays = formats.read_npz(folder / "entries.npz")
    entries = []
    for i, head in enumerate(heads):
        histories = tuple(
            (name, {column: arrays[f"{i}.{j}.{column}"] for column in _COLUMNS})
            for j, name in enumerate(head["methods"])
        )
        entries.append(
            Entry(head["name"], head["title"], arrays[f"{i}.theta"], head["fitness"], head["evaluations"], histories)
        )
    return entries
