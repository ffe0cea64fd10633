"""From a finished run to the page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.report import ChannelView, ReportData, write_report
from experiments.reporting import exports, front, learning, results, rules, scenes, signals, structure, tables, words
from experiments.reporting.case import Case
from experiments.reporting.cautions import cautions
from experiments.reporting.provenance import provenance
from experiments.reporting.recording import recordings
from experiments.reporting.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import DesignConfig
    from experiments.export.proof import Proof
    from experiments.front import Front
    from experiments.judging import Contender, Judgement
    from experiments.knowledge import Refined
    from experiments.ladder import Bench, Reference
    from experiments.reporting.recording import Recordings
    from sscq.teaching_signal import TeachingSignal


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
    """Write ``report.html`` and ``situations.csv`` into the run folder and return the report's path.

    The bytes depend on the results alone: a run that was resumed gives the same.
    """
    case = Case(bench, ref, tuple(group), judgement, signal, refined, tuple(fronts))
    data = replace(report_data(case, recordings(case)), exports=tuple(map(exports.view, proofs)))
    tables.write(data, bench.folder)
    return write_report(data, bench.folder.path / "report.html")


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
        structure=structure.structure(case),
        searches=searches,
        warnings=cautions(case, searches),
        provenance=provenance(case),
        front=front.view(case),
        own_measures=results.own_measures(case),
        picture=scenes.picture(case, recorded),
        signals=signals.signals(case, recorded),
    )


def _channel(case: Case, i: int) -> ChannelView:
    plant = case.plant
    command = plant.inputs[i].name if plant.allocate is None else f"command of {plant.channels[i].output}"
    low, high = case.limits(i)
    y, u = words.output_unit(plant, i), words.command_unit(plant, i)
    return ChannelView(plant.channels[i].output, y, command, u, low, high, words.gain_units(u, y))
