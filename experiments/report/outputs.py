"""What a design run leaves in its folder, and what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from experiments.cases.kb_case import RECOMMENDED
from experiments.pipeline.assurance.margins_over_ranges import plain
from experiments.pipeline.judged_rollouts import MEASURES
from experiments.pipeline.knowledge import records_of
from experiments.report.answer import answer, headed
from experiments.report.recorded import mean_of
from experiments.runtime.tables import change, number, text_table
from flcs.exchange.of_controller import knowledge_base_of
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from configs.schema import DesignConfig
    from experiments.pipeline.bench import Bench
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference
    from experiments.pipeline.rungs import Rungs
    from experiments.report.builders.case import FinishedDesign
    from experiments.report.recorded import Recordings
    from experiments.report.records.metrics import ControllerMetrics, DesignMetrics
    from experiments.report.records.report_data import ReportData
    from experiments.runtime.run_folder import RunFolder
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from sscq.baselines.tuned import Tuned
    from sscq.teaching.teaching_signal import TeachingSignal


class SeedsRecord(TypedDict):
    """What random numbers come from: `seeds.json`.

    Attributes
    ----------
    seed : int
        Of the design.
    searches : int
        How often the searches are repeated, each with a seed of its own.
    verdict_seeds : int
        Repetitions of each named situation in the verdict.
    situations : mapping of kind to mapping of name to int
        Of the first repetition.
    """

    seed: int
    searches: int
    verdict_seeds: int
    situations: dict[str, dict[str, int]]


_SHOWN = {"iae": "IAE", "entropy_difference_abs": "entropy", "total_variation": "travel"}


def announce(setup: Setup, folder: RunFolder, *, quiet: bool) -> None:
    """Print what is about to be done, and every warning."""
    if quiet:
        return
    counts = ", ".join(f"{len(setup.sets[kind])} {kind}" for kind in KINDS)
    print(f"design for plant {setup.plant.name}: {counts} situations; run folder {folder.path}")
    for warning in setup.all_warnings():
        print(f"warning: {warning}")


def write(
    bench: Bench,
    ref: Reference,
    group: Sequence[Tuned],
    judgement: Judgement,
    signal: TeachingSignal,
    refined: dict[str, Refined],
    config: DesignConfig,
    fronts: Sequence[Front] = (),
    further: Rungs | None = None,
    *,
    show: bool = True,
) -> None:
    """Write knowledge bases, tables, metrics and the report; print the table and the verdict if they are to be shown.

    Where nothing is printed the process's standard output is left alone: several threads may design at once.
    """
    from experiments.report.builders import FinishedDesign, recordings, report

    folder, setup = bench.folder, bench.setup
    signal.save(folder.path / "teaching_signal.csv")
    for kind, name in (("equal", "knowledge_base"), ("free", "knowledge_base_free_travel")):
        kb = with_record(
            refined[kind].kb, bench, judgement, "knowledge_base" if kind == "equal" else f"knowledge_base_{kind}"
        )
        kb.save(folder.path / f"{name}.json")
        _save_tables(folder, name, kb)
    for name, kb in (further.kbs if further else {}).items():
        with_record(kb, bench, judgement, name).save(folder.path / f"{name}.json")
        _save_tables(folder, name, kb)
    notes = {"further_rungs": list(further.notes)} if further and (further.notes or further.contenders) else {}
    case = FinishedDesign(bench, ref, tuple(group), judgement, signal, refined, tuple(fronts))
    arrays = recordings(case)
    told = {"told_by_two_rules": _told_by_two(case, arrays)}
    folder.write_json("metrics.json", {**metrics(bench, ref, group, judgement, refined), **told, **notes})
    folder.write_json("seeds.json", _seeds(setup))
    curves = {kind: one.curve.document() for kind, one in refined.items() if one.curve is not None}
    folder.write_json("trade_off.json", curves)
    structure = refined["equal"].kb.training.get("structure")
    if structure:
        folder.write_json("structure.json", structure)
    from experiments.pipeline import front_files
    from experiments.report import exports
    from experiments.report.sections.learning import sentences

    front_files.write(bench, ref.fitness, group, judgement, fronts)
    kbs = {**(further.kbs if further else {}), "knowledge_base": refined["equal"].kb}
    leaving = leaves(judgement.verdict.recommended, kbs)
    recommended = _recommended(bench, ref, group, judgement, kbs)
    if recommended is not None:
        recommended.save(folder.path / RECOMMENDED)
    exports.of_design(bench, recommended or with_record(kbs[leaving], bench, judgement, leaving), config)
    path, data = report(case, arrays)
    if not show:
        return
    print(table_text(group, judgement, data, setup.limits is not None))
    print("".join(f"{note}\n" for note in (further.notes if further else ())), end="")
    for text in front_files.texts(bench, ref.fitness, group, judgement, fronts):
        print(f"\n{text}")
    print()
    print("\n".join(sentences(refined)))
    print(judgement.verdict.sentence)
    print("\n".join(answer(data, kbs[leaving])))
    print(f"report: {path}")


def _save_tables(folder: RunFolder, name: str, kb: KnowledgeBase) -> None:
    for i, base in enumerate(kb.channels):
        suffix = "" if len(kb.channels) == 1 else f"_{base.name}"
        kb.lookup_table(i, tolerance=None).save(folder.path / f"{name}_table{suffix}.csv")


def _recommended(
    bench: Bench, ref: Reference, group: Sequence[Tuned], judgement: Judgement, kbs: Mapping[str, KnowledgeBase]
) -> KnowledgeBase | None:
    """The recommended controller as a knowledge base; None where no knowledge base is equal to it."""
    setup, name = bench.setup, judgement.verdict.recommended
    by_name = {one.name: one for one in group}
    if name in kbs:
        return with_record(kbs[name], bench, judgement, name)
    try:
        kb = knowledge_base_of(
            setup.plant,
            by_name[name].controller,
            by_name[name].theta,
            box=(setup.low, setup.high),
            reference=by_name["fixed"].theta,
            tick=setup.tick,
            records=records_of(setup, ref.fitness),
        )
    except ValueError:
        return None
    return with_record(kb, bench, judgement, name)


def leaves(recommended: str, kbs: Mapping[str, KnowledgeBase]) -> str:
    """Return which knowledge base a design exports: the recommended one, else the one that every design ends with."""
    return recommended if recommended in kbs else "knowledge_base"


def _seeds(setup: Setup) -> SeedsRecord:
    budget = setup.config.budget
    of_situations = {kind: {s.name: s.seed for s in setup.sets[kind]} for kind in KINDS}
    return {
        "seed": setup.seed,
        "searches": len(setup.searches),
        "verdict_seeds": budget.verdict_seeds,
        "situations": of_situations,
    }


def _told_by_two(case: FinishedDesign, arrays: Recordings) -> dict[str, list[float | None]]:
    """Of each knowledge base, channel after channel: the part of what rules say that two of them say at a time."""
    taught = [place.overall for place in case.places if place.kind == "taught"]
    names = {"equal": "knowledge_base", "free": "knowledge_base_free"}
    found = {kind: mean_of(arrays, name, "by_two", taught) for kind, name in names.items()}
    return {kind: [_finite(value) for value in part] for kind, part in found.items() if part is not None}


def with_record(kb: Any, bench: Bench, judgement: Judgement, name: str) -> Any:
    """Return the knowledge base with its validation results and margins written into it."""
    from dataclasses import replace

    validation = [
        {"name": s.name, "seed": s.seed, "fitness": float(judgement.fitness[name, "validation"][0, k])}
        for k, s in enumerate(bench.setup.sets["validation"])
    ]
    stability: dict[str, Any] = {}
    for base, margins in zip(kb.channels, judgement.margins.get(name, ()), strict=False):
        worst = margins.worst()
        stability[base.name] = {
            "stable": bool(worst.stable),
            "sensitivity": _finite(worst.sensitivity.value),
            "delay_margin": _finite(worst.delay_margin.value),
            "operating_points": list(margins.names),
        }
    return replace(kb, validation=validation, stability=stability)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def metrics(
    bench: Bench, ref: Reference, group: Sequence[Tuned], judgement: Judgement, refined: dict[str, Refined]
) -> DesignMetrics:
    """Return all numbers of the verdict as plain data."""
    verdict = judgement.verdict
    controllers: dict[str, ControllerMetrics] = {}
    for contender in group:
        kinds = [kind for name, kind in judgement.quality if name == contender.name]
        worst = [m.worst() for m in judgement.margins.get(contender.name, ())]
        controllers[contender.name] = {
            "title": contender.title,
            "theta": contender.theta,
            "evaluations": contender.evaluations,
            "parameters": contender.parameters,
            "fitness": {kind: judgement.mean(contender.name, kind) for kind in kinds},
            "fitness_declared": {kind: float(judgement.fitness[contender.name, kind][0].mean()) for kind in kinds},
            "measures": {
                kind: {m: judgement.mean(contender.name, kind, m) for m in judgement.measures if m != "diverged_at"}
                for kind in kinds
            },
            "failures": {kind: int(np.isfinite(judgement.quality[contender.name, kind][0]).sum()) for kind in kinds},
            "max_sensitivity": [w.sensitivity.value for w in worst],
            "delay_margin": [w.delay_margin.value for w in worst],
            "max_transient_sensitivity": [w.sensitivity.value for w in judgement.passing.get(contender.name, ())],
        }
        if contender.name in judgement.over_ranges:
            controllers[contender.name]["margins_over_ranges"] = plain(judgement.over_ranges[contender.name])
    found: DesignMetrics = {
        "plant": bench.setup.plant.name,
        "fitness": ref.fitness.plain(),
        "recommended": verdict.recommended,
        "sentence": verdict.sentence,
        "comparisons": dict(verdict.comparisons),
        "controllers": controllers,
        "rules": {kind: sum(rule.on for base in r.kb.channels for rule in base.rules) for kind, r in refined.items()},
        "authority": {kind: r.kb.inference.authority for kind, r in refined.items()},
        "assurance": {
            "stability": dict(judgement.stability),
            "worst_cases": dict(judgement.worst_cases),
        },
        "warnings": bench.setup.all_warnings(),
    }
    if judgement.left_open:
        found["left_open"] = judgement.left_open
    return found


def table_text(group: Sequence[Tuned], judgement: Judgement, data: ReportData, margins: bool) -> str:
    """Return the ladder as a plain text table; losses against the fixed PID are marked."""
    own = judgement.measures[len(MEASURES) :]
    measures = [headed(title, data.units.get(name, "")) for name, title in _SHOWN.items()]
    measures += [one.heading for one in data.own_measures]
    head = ["controller", "taught", judgement.judged, "change", *measures, "Ms", "evaluations"]
    rows = []
    for c in group:
        # An oracle stands beside the fixed gains where it is judged, in the named situations, and says so.
        kind = judgement.judged if (c.name, judgement.judged) in judgement.quality else "unforeseen"
        found = judgement.verdict.comparisons.get(c.name)
        failures = int(np.isfinite(judgement.quality[c.name, kind][0]).sum())
        ms = [m.worst().sensitivity.value for m in judgement.margins.get(c.name, ())]
        where = "" if kind == judgement.judged else ", named situations"
        rows.append([
            c.title + (f" ({failures} FAILED)" if failures else "") + where,
            *(number(judgement.surviving_mean(c.name, each)) for each in ("taught", kind)),
            "" if found is None else change(1.0 + found.mean.value, 1.0),
            *(number(judgement.mean(c.name, kind, m)) for m in (*_SHOWN, *own)),
            f"{max(ms):.3g}" if ms and margins else "-",
            "-" if c.evaluations is None else str(c.evaluations),
        ])  # fmt: skip
    return text_table(head, rows)
