"""The files that a run's page is drawn from, and nothing else; which files a run has.

`report.json` holds what the report says and no other file of the run has: situations in words, results with their
intervals, margins, the verdict with its reasons, warnings. Curves, knowledge base, teaching signal, searches and
exports have files of their own. Nothing that is read is executed.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from experiments.cases.kb_case import KB_FILES, RECOMMENDED
from experiments.report.exports import SCHEMA as MANIFEST_SCHEMA
from experiments.report.exports import VERSION as MANIFEST_VERSION
from experiments.report.page import render
from experiments.report.plain_data import plain, record
from experiments.report.recorded import delivered, histories, mean_of, with_recordings
from experiments.report.records.learning import Knowledge, TeachingView
from experiments.report.records.report_data import Provenance, ReportData
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from flcs import KnowledgeBase, TeachingRows
from flcs.export.proof import Proof
from flcs.learning.imitation import arranged
from flcs.refinement.rule_count import TradeOff
from plants.core import atomic_files
from sscq.teaching.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


NAME, SCHEMA, VERSION = "report.json", "sscq-report", 1
RESPONSES = "stages/responses/responses.npz"
KNOWLEDGE_BASE, TEACHING, TRADE_OFF = "knowledge_base.json", "teaching_signal.csv", "trade_off.json"
MANIFEST = "exports/manifest.json"


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
    path = folder / "report.html"
    atomic_files.write(path, render(load(folder)))
    return path


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
            provenance=provenance(folder, data.verdict.recommended),
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
        return read(path)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = str(error) if str(path) in str(error) else f"{path} is damaged ({error})"
        raise UserError(f"{said}; {_again(folder)}") from None


def _again(folder: Path) -> str:
    return f"`sscq design resume={folder}` goes on from the stages that are there and writes the report again"


_RULES = {key: KB_FILES[key] for key in ("knowledge_base_direct", "given")}
"""Files of knowledge bases that may be recommended, beside the refined one."""


def _knowledge(folder: Path, data: ReportData, arrays: Mapping[str, Any]) -> Knowledge | None:
    """The recommended knowledge base, else the refined one, at work in the first recorded situation of a kind."""
    recommended = data.verdict.recommended
    key = recommended if recommended in _RULES else Knowledge.controller
    if key not in {controller.key for controller in data.controllers}:
        return None
    kb = _read(folder, _RULES.get(key, KNOWLEDGE_BASE), KnowledgeBase.load)
    curve = None if key in _RULES else _read(folder, TRADE_OFF, formats.read_json).get("equal")
    by_kind = {
        kind: [i for i, situation in enumerate(data.situations) if situation.group == kind]
        for kind in ("unforeseen", "validation", "taught")
    }
    recorded = [i for group in by_kind.values() for i in group if f"{key}.{i}.moment" in arrays]
    return Knowledge(
        kb,
        None if curve is None else TradeOff.of(curve),
        mean_of(arrays, key, "shares", by_kind["taught"]),
        arrays[f"{key}.{recorded[0]}.moment"] if recorded else None,
        data.situations[recorded[0]].name if recorded else "",
        by_two=mean_of(arrays, key, "by_two", by_kind["taught"]),
        controller=key,
    )


def _teaching(folder: Path, teaching: TeachingView) -> TeachingView:
    """The teaching signal with its windows, and with what the network made of them."""
    signal = _read(folder, TEACHING, TeachingSignal.load)
    if not teaching.round:
        return replace(teaching, signal=signal)
    stage = "imitation" if teaching.round == 1 else f"imitation_{teaching.round}"
    place = delivered(folder, stage, "imitation") / "knowledge_base.json"
    kb = _read(folder, place.relative_to(folder).as_posix(), KnowledgeBase.load)
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


_FILES = (
    (RECOMMENDED, "what is recommended, as a knowledge base: for `sscq export`"),
    ("knowledge_base.json", "the knowledge base at equal actuator travel: terms, rules, law, record of its validation"),
    ("knowledge_base_free_travel.json", "the same with free actuator travel"),
    ("knowledge_base_direct.json", "the knowledge base without imitation"),
    ("given.json", "the knowledge base that the design started from, with its validation here"),
    ("teaching_signal.csv", "best gains over time with inputs and weights"),
    ("trade_off.json", "number of rules against fitness, taught and validation, and what each rule is worth"),
    ("structure.json", "what the searches over inputs and terms found"),
    ("front_fixed.csv", "the fixed gains' trade-off front: gains and what they reach, chosen points named"),
    ("front_knowledge_base.csv", "the knowledge base's trade-off front"),
    ("front.json", "settings of the fronts and their chosen points"),
    ("metrics.json", "all numbers of the verdict"),
    ("situations.csv", "all numbers of every controller in every situation"),
    ("seeds.json", "seeds of the design, the situations and the verdict"),
    ("config.json", "command and resolved configuration"),
    ("versions.json", "programs and libraries"),
    ("stages/", "results of every stage, from which a run goes on: searches, oracle, judgement, responses"),
    ("exports/", "the knowledge base as code, with manifest.json: proofs, sizes, hashes"),
    ("times.json", "durations; nothing else depends on them"),
)


_REFINED = {key: KB_FILES[key] for key in ("knowledge_base", "knowledge_base_free")}


def provenance(run: Path, recommended: str) -> Provenance:
    """Return how the run in a folder can be repeated; files are told, that of the recommended controller as such."""
    record, versions = read_record(run), formats.read_json(run / "versions.json")
    return Provenance(
        command=" ".join(["sscq", record["command"], *map(shlex.quote, record["overrides"])]),
        seed=str(record["config"]["seed"]),
        config=str(yaml.safe_dump(record["config"], sort_keys=False, allow_unicode=True, width=110)),
        versions=tuple((name, version) for name, version in versions.items() if version),
        files=tuple(_files(run, recommended)),
    )


def _files(run: Path, recommended: str) -> list[tuple[str, str]]:
    """The files of the run, the look-up tables beside their knowledge bases."""
    chosen = (_RULES | _REFINED).get(recommended)
    found = [
        (name, f"{text} (recommended)" if name == chosen else text) for name, text in _FILES if (run / name).exists()
    ]
    fronts = [(path.name, "the front of a law of the plant's own field") for path in run.glob("front_rival_*.csv")]
    found += sorted(fronts)
    tables = sorted(path.name for path in run.glob("knowledge_base*_table*.csv"))
    rules = {RECOMMENDED, *_RULES.values(), *_REFINED.values()}
    bases, others = ([one for one in found if (one[0] in rules) is wanted] for wanted in (True, False))
    return [*bases, *((name, "its gains as a look-up table") for name in tables), *others]
