"""From a finished run to `report.json`, and to `situations.csv`: every number of the page's table of all numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report import files, recorded
from experiments.report.builders import learning, motion, results, words
from experiments.report.builders.cautions import cautions
from experiments.report.builders.evidence import about, evidence
from experiments.report.builders.robustness import robustness
from experiments.report.builders.verdict import verdict
from experiments.report.drawing.numbers import count, plain
from experiments.report.records.report_data import ReportData
from experiments.report.records.results import MEASURES, ChannelView
from plants.core.motion.modes import scheme

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.report.builders.case import FinishedDesign
    from experiments.report.recorded import Recordings
    from experiments.runtime.run_folder import RunFolder


TABLE_NAME = "situations.csv"


def write_table(data: ReportData, folder: RunFolder) -> None:
    """Write one row for every controller in every situation."""
    measures = [*MEASURES, *(one.name for one in data.own_measures)]
    header = ["kind", "situation", "controller", "seeds", "failures", "cost", "cost_low", "cost_high", *measures]
    rows = []
    for situation in data.situations:
        for controller in data.controllers:
            result = controller.result(situation.name)
            cost = (result.cost.value, result.cost.low, result.cost.high)
            values = [result.measure(m) for m in measures]
            head = [situation.group, situation.name, controller.key, situation.seeds, result.failures]
            rows.append([*head, *cost, *values])
    folder.write_csv(TABLE_NAME, header, rows)


def _facts(case: FinishedDesign) -> tuple[tuple[str, str], ...]:
    """How it was computed."""
    setup, budget = case.setup, case.setup.config.budget
    spread, sample = setup.config.situations.unforeseen_spread, setup.laws[0].sample_time or setup.step
    kinds = "" if budget.repeat_taught else "validation and unforeseen "
    facts = [
        ("integration", f"{scheme(setup.plant, setup.options['integrator'])}, step {plain(setup.step)} s"),
        ("controller sample", f"{plain(sample)} s; gains of schedules every {plain(setup.tick)} s"),
        ("evaluations of each search", ", ".join(count(size) for size in dict.fromkeys(setup.searches))),
        ("verdict", _judged_in(case, f"{budget.verdict_seeds} seeds of each {kinds}situation")),
    ]
    if spread:
        facts.append(("plants of the verdict", f"parameters spread by ±{100.0 * spread:g} %, one plant a seed"))
    return tuple(facts)


def _judged_in(case: FinishedDesign, named: str) -> str:
    """What the verdict rests on; named situations are shown beside drawn ones."""
    return (
        named if case.judged != "drawn" else f"{len(case.setup.sets['drawn'])} fresh draws; shown beside them: {named}"
    )


def report(case: FinishedDesign, arrays: Recordings) -> tuple[Path, ReportData]:
    """Write ``situations.csv`` and `report.json`, draw the page from the files; return its path and what it shows.

    The bytes depend on the results alone: a run that was resumed gives the same.
    """
    data, folder = report_data(case, arrays), case.bench.folder
    write_table(data, folder)
    files.save(folder.path, data)
    return files.draw(folder.path), data


def report_data(case: FinishedDesign, arrays: Recordings) -> ReportData:
    """Return everything that the page of a finished run shows."""
    titles = {name: contender.title for name, contender in case.contenders.items()}
    searches = recorded.histories(case.bench.folder.path, titles)
    return ReportData(
        title=f"Design report: {case.plant.name}",
        plant=case.plant.text,
        cost=words.cost(case),
        channels=tuple(_channel(case, i) for i in range(len(case.plant.channels))),
        situations=results.situations(case),
        controllers=results.controllers(case, arrays),
        verdict=verdict(case),
        teaching=learning.teaching(case),
        warnings=cautions(case, searches),
        facts=_facts(case),
        front=learning.fronts(case),
        own_measures=results.own_measures(case),
        picture=None if case.plant.scene is None else motion.picture_of(case.plant),
        plotted=motion.signals(case, arrays),
        units=words.measure_units(case.plant),
        about=about(case),
        evidence=evidence(case, searches),
        robustness=robustness(case),
    )


def _channel(case: FinishedDesign, i: int) -> ChannelView:
    plant = case.plant
    command = plant.inputs[i].name if plant.allocate is None else f"command of {plant.channels[i].output}"
    low, high = case.limits(i)
    y, u = words.output_unit(plant, i), words.command_unit(plant, i)
    return ChannelView(
        plant.channels[i].output,
        y,
        command,
        u,
        low,
        high,
        words.gain_units(u, y),
        plant.channels[i].scale,
        words.law(case, i),
    )
