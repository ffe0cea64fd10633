"""Write docs/performance/exports.md: ``python -m benchmarks.exports [--quick]``.

Knowledge bases of several sizes as C: bytes, time of a sample, errors, ten million hostile sequences, the loop closed
with it. Every number comes from the one run that writes it.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner import pages
from controllers import PID, pid_form
from experiments.runtime.tables import markdown_table
from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.export.c import target
from flcs.export.controller import installed
from flcs.export.guard import Guard
from flcs.export.job import Job
from flcs.export.recording import recordings
from flcs.inference.rule_base import full_grid
from sscq.situations.situation_sets import standard_sets

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from flcs.export.proof import Proof

_CASES = (
    ("van_der_pol", 3, "triangular"), ("van_der_pol", 5, "triangular"), ("van_der_pol", 7, "triangular"),
    ("van_der_pol", 5, "gaussian"), ("cart_pole", 5, "triangular"), ("planar_quadrotor", 5, "triangular"),
)  # fmt: skip


@dataclass(frozen=True)
class ExportRow:
    """One knowledge base in one precision."""

    plant: str
    rules: int
    shape: str
    proof: Proof


def knowledge_base(name: str, terms: int, shape: str) -> KnowledgeBase:
    """Return a full grid over error and error rate for each channel; all rules differ, by at most a fifth."""
    plant, rng = plants.find(name), np.random.default_rng(1)
    bases = []
    for channel in plant.channels:
        centres = tuple(np.linspace(-1.0, 1.0, terms).tolist())
        reach = {"e": channel.scale, "e_rate": 2.0 * channel.scale}
        variables = tuple(
            Variable(n, "", -r, r, tuple(r * c for c in centres), shape=shape) for n, r in reach.items()
        )  # fmt: skip
        ends = zip(channel.gains_low, channel.gains_high, strict=True)
        reference = tuple(low + 0.4 * (high - low) for low, high in ends)
        rules = tuple(
            replace(rule, gains=tuple(g * float(s) for g, s in zip(reference, rng.uniform(0.9, 1.1, 3), strict=True)))
            for rule in full_grid([terms, terms], reference)
        )
        law = pid_form.describe(PID(sample_time=0.01))
        bases.append(
            RuleBase(channel.output, variables, rules, channel.gains_low, channel.gains_high, reference, law=law)
        )
    numbers = {q.name: q.nominal for q in plant.parameters}
    return KnowledgeBase(name, tuple(bases), Inference(), tick=0.04, plant_parameters=numbers)


def job_of(kb: KnowledgeBase, hostile: int) -> Job:
    """Return the export of a knowledge base in its plant's taught situations."""
    plant = plants.find(kb.plant)
    guard = Guard(frozen_after=0.2, safe=(0.0,) * len(plant.channels), ramp=10.0)
    machine = installed(kb, plant, 0.005, guard)
    several = tuple(standard_sets(plant)["taught"][:3])
    seen = tuple(recordings(kb, plant, several, 0.005, machine))
    return Job(kb, plant, 0.005, machine, seen, several, guard=guard, hostile=hostile)


def _sequences(size: Size, plant: str, terms: int, shape: str) -> int:
    """Hostile sequences: ten million for one controller of 25 rules, a million for other plants' of that size."""
    if (terms, shape) != (5, "triangular"):
        return 1000
    return (10 if plant == "van_der_pol" else 1) * size.candidates


def measured(size: Size) -> list[ExportRow]:
    """Return every case in both precisions."""
    rows = []
    for name, terms, shape in _CASES:
        kb = knowledge_base(name, terms, shape)
        job = job_of(kb, _sequences(size, name, terms, shape))
        for precision in target.BOUNDS:
            with tempfile.TemporaryDirectory() as folder:
                for file, text in target.files(job, precision).items():
                    (Path(folder) / file).write_text(text, encoding="utf-8")
                rows.append(ExportRow(name, kb.n_rules, shape, target.prove(job, Path(folder), precision)))
    return rows


def page(rows: list[ExportRow], about: dict[str, Any]) -> str:
    """Return the page's text."""
    stood = [row for row in rows if row.rules % 25 == 0 and row.shape == "triangular"]
    hostile = [
        f"- {row.plant}, {row.rules} rules, {_precision(row)}: {row.proof.numbers.get('hostile', row.proof.reason)}"
        for row in stood
    ]
    values = {"rows": markdown_table(_HEAD, map(_row, rows)), "hostile": hostile}
    return pages.filled(pages.TEMPLATES / "exports.md", about, values)


def _precision(row: ExportRow) -> str:
    return "single" if row.proof.target.endswith("float") else "double"


_HEAD = ("plant", "rules", "terms", "precision", "ROM, bytes", "state, numbers", "ns a sample", "largest error", "loop")


def _row(row: ExportRow) -> list[str]:
    numbers = row.proof.numbers
    loops = numbers.get("closed_loop", {})
    closed = f"{max(loops.values()):.1e}" if loops else "-"
    status = "" if row.proof.status == "ok" else f" ({row.proof.status}: {row.proof.reason})"
    return [
        row.plant, str(row.rules), row.shape, _precision(row), str(numbers.get("rom_bytes", "-")),
        str(numbers.get("numbers_of_state", "-")), f"{1e9 * row.proof.seconds:.1f}",
        f"{row.proof.largest:.1e}{status}", closed,
    ]  # fmt: skip


def write(rows: list[ExportRow], about: dict[str, Any], folder: Path) -> None:
    """Write the page."""
    (folder / "exports.md").write_text(page(rows, about), encoding="utf-8")


if __name__ == "__main__":
    pages.run("exports", __doc__, measured, write)
