"""How the controllers were found: histories of all searches, the teaching signal, the structure of the knowledge base.

The structure is told as a line of text, too.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline import search_results
from experiments.report import (
    InputRow,
    NotAvailable,
    SearchHistory,
    StructureView,
    TaughtTrack,
    TeachingView,
    TradeOffView,
)
from experiments.report.builders.case import BASELINE
from experiments.report.builders.rules import KEY
from experiments.report.drawing.numbers import count
from experiments.report.recorded import MOST
from flcs import TeachingRows
from flcs.learning.imitation import arranged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.search_results import Entry
    from experiments.report.builders.case import Array, Case
    from flcs.refinement.rule_count import TradeOff

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
        for entry in search_results.load(folder) if folder.is_dir() else []:
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
        label, method = search_results.parted(name)
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


_KIND = "equal"  # the knowledge base that the page shows


def structure(case: Case) -> StructureView:
    """Return what the run searched of the structure."""
    if KEY not in case.contenders or _KIND not in case.refined:
        return StructureView()
    refined = case.refined[_KIND]
    curve = None if refined.curve is None else _trade_off(refined.curve)
    return replace(structure_of(refined.kb.training), trade_off=curve)


def structure_of(training: Mapping[str, Any]) -> StructureView:
    """Return what the searches over inputs and terms left in a knowledge base's record of its training."""
    found = training.get("structure", {})
    return StructureView(None, tuple(_inputs(found)), _terms(found))


def _inputs(found: Mapping[str, Any]) -> Iterator[InputRow]:
    """One row for every input that was a candidate, channel after channel."""
    for channel, record in found.items():
        told, valued = record.get("information", {}), record.get("inputs", {})
        for name in dict.fromkeys([*told, *valued]):
            one, value = told.get(name, {}), valued.get(name)
            yield InputRow(
                name=name if len(found) == 1 else f"{name} of {channel}",
                kept=one.get("kept", True) if value is None else value["kept"],
                information=_number(one.get("information")),
                threshold=_number(one.get("threshold")),
                taught=_number(value and value["taught"]),
                validation=_number(value and value["validation"]),
                text=_choice(one, value),
            )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _choice(told: Mapping[str, Any], value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "kept" if told["kept"] else "left out: it tells no more about the gains than chance"
    return ": ".join(filter(None, ("kept" if value["kept"] else "left out", value["text"])))


def _terms(found: Mapping[str, Any]) -> str:
    """What the search over linguistic terms found, in a sentence for every channel."""
    parts = []
    for channel, record in found.items():
        if "terms" in record:
            terms = record["terms"]
            counts = ", ".join(f"{name} {one['terms']}" for name, one in terms["inputs"].items())
            where = "" if len(found) == 1 else f" of {channel}"
            parts.append(
                f"Terms{where} by genetic search: {counts}; {terms['shape']}; the rules tell "
                f"{terms['information']:.3g} nat about the gains, less what as many would tell by chance."
            )
    return " ".join(parts)


def _trade_off(curve: TradeOff) -> TradeOffView:
    validation = [p.validation for p in curve.points if p.validation is not None]
    return TradeOffView(
        rules=np.array([p.rules for p in curve.points]),
        taught=np.array([p.taught for p in curve.points]),
        chosen=curve.chosen,
        loss=curve.loss,
        text=f"{curve.sentence()}; allowed {100.0 * curve.loss:g} %",
        validation=np.array(validation) if len(validation) == len(curve.points) else None,
    )


def sentences(refined: dict[str, Refined]) -> list[str]:
    """Return one line for every refined knowledge base."""
    titles = {"equal": "knowledge base", "free": "knowledge base, free actuator travel"}
    found: Mapping[str, Any] = next((one.kb.training.get("structure", {}) for one in refined.values()), {})
    lines = [line for line in (_terms(found), *map(_line, _inputs(found))) if line]
    return lines + [f"{titles[kind]}: {one.curve.sentence()}" for kind, one in refined.items() if one.curve is not None]


def _line(row: InputRow) -> str:
    """One input as text: what it tells, what the loop loses without it, and the choice."""
    told = "" if math.isnan(row.information) else f" tells {row.information:.3g} nat (by chance {row.threshold:.3g});"
    lost = (
        ""
        if math.isnan(row.taught)
        else f" without it {100.0 * row.taught:+.1f} % (validation {100.0 * row.validation:+.1f} %);"
    )
    return f"input {row.name}:{told}{lost} {row.text}"
