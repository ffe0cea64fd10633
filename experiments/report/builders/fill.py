"""From a finished run to the page, and to `situations.csv`: every number of its table of all numbers.

Also what has no file of its own here: exports with their proofs, and how the run can be repeated (command, seeds,
configuration, versions, files; no times and no places).
"""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from experiments.report import ChannelView, Provenance, Quality, ReportData, files
from experiments.report.builders import front, learning, results, rules, scenes, signals, words
from experiments.report.builders.case import Case
from experiments.report.builders.cautions import cautions
from experiments.report.builders.recording import recordings
from experiments.report.builders.verdict import verdict
from experiments.report.drawing.numbers import count, plain
from experiments.report.records.report_data import ExportView
from experiments.runtime import formats
from plants.core.motion.modes import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import DesignConfig
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Contender, Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Bench, Reference
    from experiments.report.recorded import Recordings
    from experiments.runtime.run_folder import RunFolder
    from flcs.export.proof import Proof
    from sscq.teaching.teaching_signal import TeachingSignal


def export_view(proof: Proof) -> ExportView:
    """Return what the page shows of one export."""
    from experiments.report.living.target import TARGETS

    worst = max(proof.errors, key=lambda name: proof.errors[name]) if proof.errors else ""
    size = proof.numbers.get("rom_bytes")
    return ExportView(
        proof.target, TARGETS[proof.target].title, proof.status, proof.checker, proof.reason, proof.bound,
        proof.samples, worst, proof.largest, None if size is None else int(size),
        str(proof.numbers.get("page", "")),
    )  # fmt: skip


TABLE_NAME = "situations.csv"


def write_table(data: ReportData, folder: RunFolder) -> None:
    """Write one row for every controller in every situation."""
    measures = [f.name for f in fields(Quality)]
    own = [one.name for one in data.own_measures]
    header = ["kind", "situation", "controller", "seeds", "failures", "cost", "cost_low", "cost_high", *measures, *own]
    rows = []
    for situation in data.situations:
        for controller in data.controllers:
            result = controller.result(situation.name)
            if result is not None:
                cost = (result.cost.value, result.cost.low, result.cost.high)
                values = [getattr(result.quality, m) for m in measures]
                head = [situation.group, situation.name, controller.key, situation.seeds, result.failures]
                rows.append([*head, *cost, *values, *result.own])
    folder.write_csv(TABLE_NAME, header, rows)


_FILES = (
    ("knowledge_base.json", "the knowledge base at equal actuator travel: terms, rules, law, record of its validation"),
    ("knowledge_base_free_travel.json", "the same with free actuator travel"),
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


def provenance(case: Case) -> Provenance:
    """Return how to repeat the run."""
    setup, folder = case.setup, case.bench.folder
    command = " ".join(["sscq", folder.command, *map(shlex.quote, folder.overrides)])
    versions = formats.read_json(folder.path / "versions.json")
    sample = setup.laws[0].sample_time or setup.step
    facts = [
        ("integration", f"{scheme(setup.plant, setup.options['integrator'])}, step {plain(setup.step)} s"),
        ("controller sample", f"{plain(sample)} s; gains of schedules every {plain(setup.tick)} s"),
        ("evaluations of each candidate", count(setup.evaluations)),
        (
            "verdict",
            f"{setup.seeds} seeds of each {'' if setup.repeat_taught else 'validation and unforeseen '}situation",
        ),
    ]
    if setup.spread:
        facts.append(("plants of the verdict", f"parameters spread by ±{100.0 * setup.spread:g} %, one plant a seed"))
    return Provenance(
        command=command,
        seed=str(setup.seed),
        config=_yaml(folder.config),
        versions=tuple((name, version) for name, version in versions.items() if version),
        files=tuple(_files(case)),
        facts=tuple(facts),
    )


def _yaml(config: object) -> str:
    import yaml

    return str(yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110))


def _files(case: Case) -> list[tuple[str, str]]:
    """The files of the run, the look-up tables beside their knowledge bases."""
    folder = case.bench.folder.path
    found = [(name, text) for name, text in _FILES if name == "situations.csv" or (folder / name).exists()]
    fronts = [(path.name, "the front of a law of the plant's own field") for path in folder.glob("front_rival_*.csv")]
    found += sorted(fronts)
    tables = sorted(path.name for path in folder.glob("knowledge_base*_table*.csv"))
    return [*found[:2], *((name, "its gains as a look-up table") for name in tables), *found[2:]]


def report(
    bench: Bench,
    ref: Reference,
    group: Sequence[Contender],
    judgement: Judgement,
    signal: TeachingSignal,
    refined: Mapping[str, Refined],
    config: DesignConfig,  # noqa: ARG001  (what decides the result is in the run folder, without this session's settings)
    fronts: Sequence[Front] = (),
    proofs: Sequence[Proof] = (),
) -> Path:
    """Write ``situations.csv`` and `report.json`, draw the page from the files and return its path.

    The bytes depend on the results alone: a run that was resumed gives the same.
    """
    case = Case(bench, ref, tuple(group), judgement, signal, refined, tuple(fronts))
    data = replace(report_data(case, recordings(case)), exports=tuple(map(export_view, proofs)))
    write_table(data, bench.folder)
    files.save(bench.folder.path, data)
    return files.draw(bench.folder.path)


def report_data(case: Case, recorded: Recordings) -> ReportData:
    """Return everything that the page of a finished run shows."""
    searches = learning.searches(case)
    return ReportData(
        title=f"Design report: {case.plant.name}",
        plant=case.plant.text,
        cost=words.cost(case),
        channels=tuple(_channel(case, i) for i in range(len(case.plant.channels))),
        situations=results.situations(case),
        controllers=results.controllers(case, recorded),
        verdict=verdict(case),
        rule_bases=rules.rule_bases(case, recorded),
        teaching=learning.teaching(case),
        structure=learning.structure(case),
        searches=searches,
        warnings=cautions(case, searches),
        provenance=provenance(case),
        front=front.view(case),
        own_measures=results.own_measures(case),
        picture=None if case.plant.scene is None else scenes.picture_of(case.plant),
        plotted=signals.signals(case, recorded),
    )


def _channel(case: Case, i: int) -> ChannelView:
    plant = case.plant
    command = plant.inputs[i].name if plant.allocate is None else f"command of {plant.channels[i].output}"
    low, high = case.limits(i)
    y, u = words.output_unit(plant, i), words.command_unit(plant, i)
    return ChannelView(plant.channels[i].output, y, command, u, low, high, words.gain_units(u, y))
