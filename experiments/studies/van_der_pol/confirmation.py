"""Stored designs in situations drawn afresh: never taught, and never looked at while anything was chosen.

    python -m experiments.studies confirmation                       # all runs of the study, and the page
    python -m experiments.studies confirmation runs/design/2026...   # other runs, or knowledge bases

What is drawn was declared before it was first simulated (declarations/confirmation.yaml, its hash is printed). Each
knowledge base of a run is compared with its own reference gains, the best fixed PID, on the same draws: fitness (mean,
median, worst 5 %) and actuator travel, with intervals from resampled draws. Losses are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import plants
from experiments.cases import kb_case
from experiments.runtime.errors import UserError
from experiments.runtime.progress import Progress
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.engine.changes import percent
from experiments.studies.engine.declaration import FOLDER, entries_of
from experiments.studies.engine.template import Template
from flcs import KnowledgeBase
from plants.core import atomic_files
from sscq.verdict.comparison import Comparison, Sample, compare
from sscq.worst.envelope import Envelope
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.trials import TrialLoops

if TYPE_CHECKING:
    from collections.abc import Sequence

TEMPLATE = Template.of("confirmation")
DECLARED = FOLDER / TEMPLATE.head["declared"]
_NO_LIMIT = 1e300
_BLOCK = 250  # situations simulated together
_HEAD = ("knowledge base", "J / fixed PID's", "mean", "median", "worst 5 %", "travel", "new failures", "wins")


@dataclass(frozen=True)
class FreshSituations:
    """What is drawn.

    Attributes
    ----------
    plant : str
    draws, seed : int
    step : float
        Integration step [s].
    envelope : Envelope
        Each draw is independent and uniform in every range.
    digest : str
        SHA-256 of the declaring file.
    """

    plant: str
    draws: int
    seed: int
    step: float
    envelope: Envelope
    digest: str


def declaration(path: Path = DECLARED) -> FreshSituations:
    """Read a declaration.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or fewer than 40 draws: the worst 5 % would be one of them.
    ValueError
        For ranges that are none.
    """
    given, digest = entries_of(path, {f.name for f in fields(FreshSituations)} - {"digest"})
    if not isinstance(given["draws"], int) or given["draws"] < 40:
        raise UserError(f"{path.name}: draws must be a whole number of at least 40, got {given['draws']!r}")
    return FreshSituations(**given | {"envelope": Envelope(**given["envelope"]), "digest": digest})


def sample(kb: KnowledgeBase, declared: FreshSituations, *, fixed: bool) -> Sample:
    """Return fitness, travel and failures [draw, 1] of a knowledge base, or of its reference gains."""
    plant = plants.find(kb.plant)
    genes = EnvelopeGenes(plant, conditions(kb, declared.envelope))
    # A limit that is never met, so that travel is measured; a rollout's cost holds no limits.
    fitness = replace(kb_case.fitness_of(kb), travel_limit=_NO_LIMIT)
    bench = TrialLoops(genes, fitness, declared.step)
    reference, own = kb_case.contenders_of(kb, None)
    one = reference if fixed else own
    parts: list[tuple[np.ndarray, ...]] = []
    for block in np.array_split(genes.draw(declared.draws, declared.seed), -(-declared.draws // _BLOCK)):
        quality = bench.quality(one.controller, one.theta, block)
        found = bench.costs(quality, len(block))
        parts.append((found.cost, quality.until_lost["total_variation"][: len(block), 0], found.failed))
    return Sample(*(np.concatenate(column)[:, None] for column in zip(*parts, strict=True)))


def conditions(kb: KnowledgeBase, envelope: Envelope) -> Envelope:
    """Return the envelope with the delays and the sensor noise that a knowledge base was taught: its valid range."""
    known = {name: (float(ends[0]), float(ends[1])) for name, ends in kb.valid_range.items()}
    noise = known.get("noise", (0.0, 0.0))
    outputs = {base.name: noise for base in kb.channels} if noise[1] > 0.0 else {}
    return replace(envelope, delay=known.get("delay", (0.0, 0.0)), noise=outputs)


def compared(kb: KnowledgeBase, declared: FreshSituations) -> tuple[float, Comparison]:
    """Return the ratio of the mean fitness to the reference gains' and the comparison with them."""
    if kb.plant != declared.plant:
        raise UserError(f"the situations are declared for {declared.plant}, the knowledge base is of {kb.plant}")
    fixed, own = sample(kb, declared, fixed=True), sample(kb, declared, fixed=False)
    found = compare(own, fixed)
    return 1.0 + found.mean.value, found


def files(paths: Sequence[Path]) -> list[Path]:
    """Return the knowledge bases that paths name: files, or all of a run's folder."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob("knowledge_base*.json")) if path.is_dir() else [path]
    if not found:
        raise UserError(
            "no knowledge base found; name run folders or files, or run `python -m experiments.studies van_der_pol` "
            "first"
        )
    return found


def row(path: Path, ratio: float, found: Comparison) -> tuple[str, ...]:
    """Return the cells of one knowledge base."""
    loss = " LOSS" if found.mean.value > 0.0 else ""
    return (
        f"{path.parent.name}/{path.stem}", f"{ratio:.3f}", percent(found.mean) + loss, percent(found.median),
        percent(found.tail),
        f"{100 * found.travel.value:+.0f} %", str(found.new_failures), f"{100 * found.wins:.0f} %",
    )  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Judge the knowledge bases that are named, by default all of the study, and write their page."""
    declared, rows = declaration(), []
    named = [Path(word) for word in words] or sorted(Path(TEMPLATE.head["runs"]).glob("*-*"))
    with Progress(len(found := files(named)), "fresh situations", "knowledge bases") as progress:
        for path in found:
            rows.append(row(path, *compared(KnowledgeBase.load(path), declared)))
            progress.advance()
    head = f"{declared.draws} situations of {declared.plant}, declared in {DECLARED.name} {declared.digest[:16]}"
    print(head, text_table(_HEAD, rows), sep="\n")
    if not words:
        atomic_files.write(Path(TEMPLATE.head["page"]), page(head, rows))


def page(head: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table as a page."""
    return TEMPLATE.page({"head": head, "sections": markdown_table(_HEAD, rows)})
