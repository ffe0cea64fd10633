"""The command ``sscq identify``: plants that could have produced one or several logs of a loop, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.log import plant_equations
from experiments.log.loop_log import NOT_TOLD, levels_of, log_of, loop_of, telling
from experiments.log.report import ensemble_table, print_finding
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from sscq.identification import stored
from sscq.identification.assessing.assessment import MOST_ROWS, present_gains, sense_of
from sscq.identification.ensemble import identify
from sscq.identification.promise import default_scenario

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from controllers.forms import Gains
    from sscq.identification.ensemble import Ensemble
    from sscq.identification.loop_knowledge import LoopKnowledge
    from sscq.identification.reading.log import Log


def run(options: argparse.Namespace) -> None:
    """Write identified.json; SystemExit with 3 where the logs cannot tell."""
    file = Path(options.output) / "identified.json"
    if file.exists():
        raise UserError(f"{file} exists; give another --output, or move it away")
    known, plant = loop_of(options), plant_equations.plant_of(options) if plant_equations.asked(options) else None
    if plant is not None:
        known = plant_equations.limits_of(options, known, plant)
    logs = [log_of(options, known, path).averaged(MOST_ROWS) for path in (options.log, *options.more)]
    several = logs if plant is None else [log.on_grid for log in logs]
    if len({log.step for log in several if log.instants is None}) > 1:
        told = ", ".join(f"{log.name} {log.step:g} s" for log in several)
        raise UserError(f"logs of one loop must have rows equally far apart, got {told}")
    present, findings = present_gains(logs[0], known)
    for finding in findings:
        print_finding(finding)
    print(f"{len(logs)} log(s), {sum(map(len, logs))} rows of {logs[0].step:g} s")
    if plant is not None:
        grey = plant_equations.identified(options, known, plant, logs)
        print(plant_equations.table_of(grey))
        plant_equations.write(file, options, grey, known, logs, present)
        refusal = grey.refusal
    else:
        ensemble = _identified(options, known, logs, sense_of(present))
        print(ensemble_table(ensemble))
        file.parent.mkdir(parents=True, exist_ok=True)
        formats.write_json(file, stored.document(ensemble, loop=_loop(known, logs, ensemble, present)))
        refusal = ensemble.refusal
    print(f"plants: {file}")
    if refusal:
        print(f"no gains from these logs: {refusal}")
        raise SystemExit(NOT_TOLD)


def _identified(
    options: argparse.Namespace, known: LoopKnowledge, logs: Sequence[Log], sense: float | None
) -> Ensemble:
    low, high = known.output_limits
    with telling(quiet=options.quiet) as tell:
        return identify(
            [record for log in logs for record in log.records()],
            sense=sense,
            seed=options.seed,
            output_span=max(known.output_span(log) for log in logs),
            input_span=high - low,
            longest_dead_time=known.longest_dead_time,
            on_round=tell,
        )


def _loop(known: LoopKnowledge, logs: Sequence[Log], ensemble: Ensemble, present: Gains | None) -> stored.StoredLoop:
    low, high = known.output_limits
    rest = ensemble.records[0].origin
    ends = [levels_of(log, rest[0]) for log in logs]
    return stored.StoredLoop(
        rest=rest,
        limits=known.output_limits,
        sample_time=known.sample_time or logs[0].step,
        present=None if present is None else (present.kp, present.ki, present.kd),
        scenario=default_scenario(ensemble, logs[0], known.output_span(logs[0]), high - low),
        levels=(min(end[0] for end in ends), max(end[1] for end in ends)),
    )
