"""Exports and their proofs, for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.exports_data import ExportView

if TYPE_CHECKING:
    from experiments.export.proof import Proof


def view(proof: Proof) -> ExportView:
    """Return what the page shows of one export."""
    from experiments.export.living_target import TARGETS

    worst = max(proof.errors, key=lambda name: proof.errors[name]) if proof.errors else ""
    size = proof.numbers.get("rom_bytes")
    return ExportView(
        proof.target, TARGETS[proof.target].title, proof.status, proof.checker, proof.reason, proof.bound,
        proof.samples, worst, proof.largest, None if size is None else int(size),
        str(proof.numbers.get("page", "")),
    )  # fmt: skip
