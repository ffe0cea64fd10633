"""Files that hold rules alone, a file for each channel, and beside them the complement with all that they lack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from experiments.export.proof import Proof, unchecked
from flcs.exchange import ExchangeError, complement, restored, system_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.export.job import Job
    from flcs import KnowledgeBase
    from flcs.exchange import FuzzySystem

COMPLEMENT = "complement.json"


def names_of(kb: KnowledgeBase, ending: str) -> list[str]:
    """Return the files' names, a channel each."""
    return [f"{kb.plant}_{base.name}.{ending}" for base in kb.channels]


def written(kb: KnowledgeBase, ending: str, write: Callable[[FuzzySystem], str]) -> dict[str, str]:
    """Return the files' texts by name; none where the format cannot carry this knowledge base."""
    if refused(kb, write):
        return {}
    texts = {name: write(system_of(kb, k)) for k, name in enumerate(names_of(kb, ending))}
    return {**texts, COMPLEMENT: json.dumps(complement(kb), indent=1, ensure_ascii=False, allow_nan=False) + "\n"}


def refused(kb: KnowledgeBase, write: Callable[[FuzzySystem], str]) -> str:
    """Return why the format cannot carry a knowledge base; empty where it can."""
    try:
        for k in range(len(kb.channels)):
            write(system_of(kb, k))
    except ExchangeError as error:
        return str(error)
    return ""


def comes_back(kb: KnowledgeBase, folder: Path, ending: str, read: Callable[[str], FuzzySystem]) -> str:
    """Return what is wrong with a knowledge base that is read back from its files; empty where it is the same."""
    systems = [read((folder / name).read_text(encoding="utf-8")) for name in names_of(kb, ending)]
    document = json.loads((folder / COMPLEMENT).read_text(encoding="utf-8"))
    back = restored(document, systems)
    return "" if back.content_hash == kb.content_hash else "the knowledge base that comes back is another one"


def settled(
    job: Job, folder: Path, ending: str, bound: float,
    write: Callable[[FuzzySystem], str], read: Callable[[str], FuzzySystem],
) -> Proof | None:  # fmt: skip
    """Return the proof that needs no other program: nothing was written, or what comes back is wrong; else None.

    Parameters
    ----------
    ending : str
        Of the files' names; the target's name as well.
    """
    why = refused(job.kb, write)
    if why:
        return unchecked(ending, f"not written: {why}")
    wrong = comes_back(job.kb, folder, ending, read)
    return Proof(ending, "own reader", "failed", wrong, bound) if wrong else None
