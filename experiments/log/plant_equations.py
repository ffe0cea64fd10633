"""Plants of known equations from logs: which plant, what of it is fitted, and what is written."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from experiments.log.loop_log import levels_of, telling
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.tables import text_table
from experiments.starting.plant_choice import load, only_plant
from plants.identification.grey_box import GreyBox
from sscq.identification.ensemble import interval_of
from sscq.identification.grey_box import stored
from sscq.identification.grey_box.members import identify_grey
from sscq.identification.grey_box.scenario import grey_scenario
from sscq.identification.stored import StoredLoop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from controllers.forms import Gains
    from plants import Plant
    from sscq.identification.grey_box.members import GreyEnsemble
    from sscq.identification.loop_knowledge import LoopKnowledge
    from sscq.identification.reading.log import Log


def asked(options: argparse.Namespace) -> bool:
    """Return whether a plant of known equations is to be fitted.

    Raises
    ------
    UserError
        If one is named without what to fit, or the other way round.
    """
    named = options.plant is not None or options.plant_file is not None
    if named and not options.fit:
        raise UserError("say which parameters of the plant the log is to tell: --fit NAME,NAME")
    if not named and (options.fit or options.load):
        raise UserError("--fit and --load belong to a plant with equations: give --plant NAME, or --plant-file FILE")
    return named


def plant_of(options: argparse.Namespace) -> Plant:
    """Return the plant that is named, from the user's file if there is one."""
    if options.plant_file is not None and Path(options.plant_file).suffix != ".py":
        raise UserError(f"--plant-file must be a Python file that registers a plant, got {options.plant_file}")
    given = () if options.plant_file is None else load(options.plant_file, quiet=options.quiet)
    name = options.plant or only_plant(options.plant_file, given, "--plant ")
    return plants.find(name)


def limits_of(options: argparse.Namespace, known: LoopKnowledge, plant: Plant) -> LoopKnowledge:
    """Return what is known of the loop, with the limits of the plant's command where no others are given.

    Raises
    ------
    UserError
        If neither has any.
    """
    given = options.loop is not None and "output_limits" in formats.read_json(Path(options.loop))
    if given or not plant.channels:
        return known
    low, high = plant.channels[0].low, plant.channels[0].high
    if not math.isfinite(high - low):
        raise UserError(f"the command of {plant.name} has no limits; give output_limits in loop.json (--loop)")
    return dataclasses.replace(known, output_limits=(low, high))


def box_of(options: argparse.Namespace, plant: Plant, step: float) -> GreyBox:
    """Return what is to be fitted to logs with rows `step` seconds apart; ValueError where that is nothing."""
    names = tuple(name.strip() for name in options.fit.split(",") if name.strip())
    return GreyBox(plant, names, step, loaded=options.load or "")


def identified(options: argparse.Namespace, known: LoopKnowledge, plant: Plant, logs: Sequence[Log]) -> GreyEnsemble:
    """Return members of a plant that explain some logs, with a line of progress."""
    box = box_of(options, plant, logs[0].on_grid.step)
    with telling(quiet=options.quiet) as tell:
        return identify_grey(
            box,
            [record for log in logs for record in log.on_grid.records()],
            seed=options.seed,
            longest_dead_time=known.longest_dead_time,
            on_round=lambda done, total: tell(plant.name, done, total),
        )


def table_of(ensemble: GreyEnsemble) -> str:
    """Return the parameters of the members as a table of quantiles."""
    box, rows = ensemble.box, []
    units = {q.name: q.unit for q in box.plant.parameters} | {"dead_time": "s"}
    for name in (*box.fitted, "dead_time"):
        unit = units[name]
        label = f"{name.replace('_', ' ')}{f' [{unit}]' if unit not in {'', '1'} else ''}"
        nominal = "" if name == "dead_time" else f"{box.nominal[box.fitted.index(name)]:.3g}"
        told = "hardly told by the log" if name in ensemble.untold else ""
        rows.append((label, *(f"{value:.3g}" for value in interval_of(ensemble.column(name))), nominal, told))
    return text_table((f"{box.plant.name} that explains the log", "5 %", "median", "95 %", "nominal", ""), rows)


def write(
    file: Path,
    options: argparse.Namespace,
    ensemble: GreyEnsemble,
    known: LoopKnowledge,
    logs: Sequence[Log],
    present: Gains | None,
) -> None:
    """Write members and loop to a file."""
    usual = grey_scenario(ensemble, logs[0])
    scenario = dataclasses.replace(usual, **{name: float(value) for name, value in known.scenario.items()})
    rest = ensemble.records[0].origin
    ends = [levels_of(log, rest[0]) for log in logs]
    loop = StoredLoop(
        rest=rest,
        limits=known.output_limits,
        sample_time=known.sample_time or logs[0].step,
        present=None if present is None else (present.kp, present.ki, present.kd),
        scenario=scenario,
        levels=(min(end[0] for end in ends), max(end[1] for end in ends)),
    )
    plant_file = "" if options.plant_file is None else str(Path(options.plant_file).resolve())
    document: dict[str, Any] = stored.grey_document(ensemble, loop, plant_file)
    file.parent.mkdir(parents=True, exist_ok=True)
    formats.write_json(file, document)
