"""The files that a run's page is drawn from, and nothing else.

`report.json` holds what the report says and no other file of the run has: situations in words, results with their
intervals, margins, the verdict with its reasons, warnings. Curves, knowledge base, teaching signal, searches and
exports have files of their own. Nothing that is read is executed.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.export_files import SCHEMA as MANIFEST_SCHEMA
from experiments.report.export_files import VERSION as MANIFEST_VERSION
from experiments.report.page import write_report
from experiments.report.plain_data import plain, record
from experiments.report.provenance import provenance
from experiments.report.recorded import with_recordings
from experiments.report.records.learning import Knowledge, TeachingView
from experiments.report.records.report_data import ReportData
from experiments.report.search_histories import histories
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from flcs import KnowledgeBase, TeachingRows
from flcs.export.proof import Proof
from flcs.learning.imitation import arranged
from flcs.refinement.rule_count import TradeOff
from sscq.teaching.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

NAME, SCHEMA, VERSION = "report.json", "sscq-report", 1
RESPONSES = "stages/responses/responses.npz"
KNOWLEDGE_BASE, TEACHING, TRADE_OFF = "knowledge_base.json", "teaching_signal.csv", "trade_off.json"
MANIFEST = "exports/manifest.json"
_LARGEST = 2_000_000_000  # bytes of one file, beyond which it is none of a run


def save(folder: Path, data: ReportData) -> None:
    """Write `report.json`: all but what has a file of its own."""
    formats.write_json(folder / NAME, {"schema": SCHEMA, "version": VERSION, "report": plain(data)}, sort=False)


def draw(folder: Path) -> Path:
    """Write ``report.html`` of a run from the files in its folder and return its path; the same files, the same bytes.

    Raises
    ------
    UserError
        See :func:`load`.
    """
    return write_report(load(folder), folder / "report.html")


def load(folder: Path) -> ReportData:
    """Return everything that the page of a run shows.

    Raises
    ------
    UserError
        If the folder holds no design, or a file is missing or damaged: which, and what to do.
    """
    command = read_record(folder)["command"]
    if command != "design":
        raise UserError(
            f"{folder} is a run of `sscq {command}`; only the report of `sscq design` is drawn from its files"
        )
    stored = _read(folder, NAME, lambda path: formats.read_json(path, SCHEMA, VERSION))
    arrays = _read(folder, RESPONSES, formats.read_npz)
    try:
        data = with_recordings(record(ReportData, stored.get("report"), NAME), arrays)
        return replace(
            data,
            knowledge=_knowledge(folder, data, arrays),
            teaching=_teaching(folder, data.teaching) if isinstance(data.teaching, TeachingView) else data.teaching,
            searches=histories(folder, {c.key: c.label for c in data.controllers}),
            provenance=provenance(folder),
            exports=_read(folder, MANIFEST, _proofs) if (folder / MANIFEST).is_file() else (),
        )
    except (ValueError, TypeError, KeyError, IndexError, OSError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{folder} holds no whole report: {error}; {_again(folder)}") from None


def _read(folder: Path, name: str, read: Callable[[Path], Any]) -> Any:
    path = folder / name
    if not path.is_file():
        raise UserError(
            f"{path} is missing: the run is unfinished or of an earlier release, or the file was deleted; "
            f"{_again(folder)}"
        )
    try:
        _check_size(path)
        return read(path)
    except (ValueError, KeyError, TypeError, MemoryError, RecursionError, zipfile.BadZipFile) as error:
        said = str(error) if str(path) in str(error) else f"{path} is damaged ({error})"
        raise UserError(f"{said}; {_again(folder)}") from None


def _check_size(path: Path) -> None:
    """Refuse what would fill the memory; of an archive counts what is in it."""
    size = path.stat().st_size
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    if size > _LARGEST:
        raise ValueError(f"{path} holds {size} bytes, more than any run writes")


def _again(folder: Path) -> str:
    return f"`sscq design resume={folder}` goes on from the stages that are there and writes the report again"


def _knowledge(folder: Path, data: ReportData, arrays: Mapping[str, Any]) -> Knowledge | None:
    """The refined knowledge base, shown at work in the first recorded situation, unforeseen ones first."""
    key = Knowledge.controller
    if key not in {controller.key for controller in data.controllers}:
        return None
    kb = _read(folder, KNOWLEDGE_BASE, KnowledgeBase.load)
    curve = _read(folder, TRADE_OFF, formats.read_json).get("equal")
    by_kind = {
        kind: [i for i, situation in enumerate(data.situations) if situation.group == kind]
        for kind in ("unforeseen", "validation", "taught")
    }
    shares = [arrays[f"{key}.{i}.shares"] for i in by_kind["taught"] if f"{key}.{i}.shares" in arrays]
    recorded = [i for group in by_kind.values() for i in group if f"{key}.{i}.moment" in arrays]
    return Knowledge(
        kb,
        None if curve is None else TradeOff.of(curve),
        np.mean(shares, axis=0) if shares else None,
        arrays[f"{key}.{recorded[0]}.moment"] if recorded else None,
        data.situations[recorded[0]].name if recorded else "",
    )


def _teaching(folder: Path, teaching: TeachingView) -> TeachingView:
    """The teaching signal with its windows, and with what the network made of them."""
    signal = _read(folder, TEACHING, TeachingSignal.load)
    if not teaching.round:
        return replace(teaching, signal=signal)
    stage = "imitation" if teaching.round == 1 else f"imitation_{teaching.round}"
    kb = _read(folder, f"stages/{stage}/knowledge_base.json", KnowledgeBase.load)
    return replace(teaching, signal=signal, learned=np.asarray(kb.gains(arranged(kb, TeachingRows.of(signal)).inputs)))


def _proofs(path: Path) -> tuple[Proof, ...]:
    """The proofs of a manifest, in which an error that is not finite is null: such errors are infinite."""
    found = []
    for plain_proof in formats.read_json(path, MANIFEST_SCHEMA, MANIFEST_VERSION)["proofs"]:
        errors = {name: float("inf") if error is None else error for name, error in plain_proof["errors"].items()}
        found.append(Proof(**(plain_proof | {"errors": errors})))
        page = PurePosixPath(str(found[-1].numbers.get("page", "")))
        if page.is_absolute() or ".." in page.parts:
            raise ValueError(f"a page of an export must lie below its folder, got {str(page)!r}")
    return tuple(found)
