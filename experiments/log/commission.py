"""The command ``sscq commission``: from a log to gains that can be typed in, with a promise; or why not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.log import plant_equations, report_page, sheet, sheet_page
from experiments.log.loop_log import NOT_TOLD, assessed, levels_of, log_of, loop_of
from experiments.log.report import print_assessment
from experiments.log.schedule import ScheduleFinding, scheduled
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from plants.core import atomic_files
from sscq.identification import stored
from sscq.identification.advice import TRAVEL, Advice, advise
from sscq.identification.assessing.assessment import MOST_ROWS
from sscq.identification.promise import default_scenario

if TYPE_CHECKING:
    import argparse

    from plants import Plant
    from sscq.identification.assessing.assessment import LoopAssessment
    from sscq.identification.loop_knowledge import LoopKnowledge
    from sscq.identification.promise import LoopScenario
    from sscq.identification.reading.log import Log

_OF_PLANT = "identified_plant.json"
_FILES = ("commissioning.json", "identified.json", _OF_PLANT, "report.html", "sheet.html", "design")


def run(options: argparse.Namespace) -> None:
    """Write a sheet; SystemExit with 3 where the log cannot tell."""
    folder = Path(options.output)
    there = [name for name in _FILES if (folder / name).exists()]
    if there:
        raise UserError(f"{folder / there[0]} exists; give another --output, or move it away")
    known, plant = loop_of(options), plant_equations.plant_of(options) if plant_equations.asked(options) else None
    if plant is not None:
        if not options.schedule:
            raise UserError("a plant with equations is for the schedule: add --schedule, or see `sscq identify`")
        known = plant_equations.limits_of(options, known, plant)
    log = log_of(options, known)
    if plant is not None:
        plant_equations.box_of(options, plant, log.step)  # what is wrong with it is said before anything is written
    found = assessed(options, log, known)
    print_assessment(log, found)
    scenario = None if found.ensemble is None else scenario_of(log, known, found)
    if found.refusal or found.ensemble is None or scenario is None:
        advice = Advice("refused", found.refusal)
    elif found.present is None:
        advice = Advice("refused", "no present gains are known: give them with --present kp,ki, or in loop.json")
    else:
        advice = advise(
            found.ensemble,
            found.present.vector,
            scenario,
            limits=known.output_limits,
            discrepancy=found.discrepancy,
            with_derivative=options.derivative or None,
            travel=known.limits.get("travel_factor"),
            sensitivity=known.limits.get("max_sensitivity"),
            sample_time=known.sample_time or log.step,
        )
    folder.mkdir(parents=True, exist_ok=True)
    case = sheet.CommissioningCase(log, known, found, scenario, advice)
    _write(folder, case)  # before the design of a schedule, which takes minutes and may be stopped
    if options.schedule and advice.status != "refused":
        most = known.limits.get("travel_factor", TRAVEL)
        schedule = _schedule(folder, options, plant, case, most)
        case = dataclasses.replace(case, schedule=schedule)
        _write(folder, case)
    print()
    print(sheet.what_to_do(case))
    print(f"sheet: {folder / 'sheet.html'}")
    if found.ensemble is not None:
        print(f"report: {folder / 'report.html'}")
    if advice.status == "refused":
        raise SystemExit(NOT_TOLD)


def _schedule(
    folder: Path, options: argparse.Namespace, plant: Plant | None, case: sheet.CommissioningCase, travel: float
) -> ScheduleFinding:
    """Whether gains should be scheduled, on the plants of the sheet or on those of known equations."""
    file = "identified.json"
    if plant is not None:
        file = _OF_PLANT
        logs = [case.log.averaged(MOST_ROWS)]
        grey = plant_equations.identified(options, case.known, plant, logs)
        print(plant_equations.table_of(grey))
        if grey.refusal:
            return ScheduleFinding(advised=False, reason=f"no schedule: {grey.refusal}")
        plant_equations.write(folder / file, options, grey, case.known, logs, case.found.present)
    found = scheduled(
        folder,
        case.advice,
        options.budget,
        travel=travel,
        seed=options.seed,
        quiet=options.quiet,
        derivative=options.derivative,
        plants_in=file,
    )
    return (
        found
        if plant is None
        else dataclasses.replace(found, reason=f"{found.reason} ({plant.name} fitted to the log)")
    )


def _write(folder: Path, case: sheet.CommissioningCase) -> None:
    found = case.found
    formats.write_json(folder / "commissioning.json", sheet.document(case))
    atomic_files.write(folder / "sheet.html", str(sheet_page.page(case)))
    if found.ensemble is not None:
        loop = stored_loop(case.log, case.known, found, case.scenario)
        formats.write_json(folder / "identified.json", stored.document(found.ensemble, found.discrepancy, loop))
        atomic_files.write(folder / "report.html", report_page.page(case))


def stored_loop(
    log: Log, known: LoopKnowledge, found: LoopAssessment, scenario: LoopScenario | None
) -> stored.StoredLoop | None:
    """Return what a design needs to know of the loop beside its plants; None where nothing was identified."""
    if found.ensemble is None or scenario is None:
        return None
    own = found.present
    return stored.StoredLoop(
        rest=found.ensemble.records[0].origin,
        limits=known.output_limits,
        sample_time=known.sample_time or log.step,
        present=None if own is None else (own.kp, own.ki, own.kd),
        scenario=scenario,
        levels=levels_of(log, found.ensemble.records[0].origin[0]),
    )


def scenario_of(log: Log, known: LoopKnowledge, found: LoopAssessment) -> LoopScenario | None:
    """Return the scenario: like what the log saw, but for what is given."""
    if found.ensemble is None:
        return None
    low, high = known.output_limits
    usual = default_scenario(found.ensemble, log, known.output_span(log), high - low)
    return dataclasses.replace(usual, **{name: float(value) for name, value in known.scenario.items()})
