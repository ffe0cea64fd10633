"""The log of a command, what is known of its loop, and the assessment of both with a line of progress."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from experiments.runtime.errors import UserError
from experiments.runtime.progress import Progress
from sscq.identification.assessing.assessment import assess
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.reading.log import read_log

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sscq.identification.assessing.assessment import LoopAssessment, Tell
    from sscq.identification.reading.log import Log

NOT_TOLD = 3  # exit code: the log is sound, but no gains follow from it


def loop_of(options: argparse.Namespace) -> LoopKnowledge:
    """Return what is known of the loop."""
    known = LoopKnowledge() if options.loop is None else LoopKnowledge.read(options.loop)
    if options.present is None:
        return known
    cells = options.present.split(",")
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        numbers = []
    if len(numbers) not in {2, 3}:
        raise UserError(f"--present must be kp,ki or kp,ki,kd, got {options.present!r}")
    return dataclasses.replace(known, present=dict(zip(("kp", "ki", "kd"), numbers, strict=False)))


def log_of(options: argparse.Namespace, known: LoopKnowledge, path: str | None = None) -> Log:
    """Read the command's log, or another one of the same loop."""
    columns = dict(known.columns) | _named(options.columns)
    return read_log(
        path or options.log,
        columns,
        output_limits=known.output_limits,
        output_unit=options.output_unit,
        sort=options.sort,
    )


def _named(given: str | None) -> dict[str, str]:
    found = {}
    for part in [] if given is None else given.split(","):
        name, mark, column = part.partition("=")
        if not mark or not name.strip() or not column.strip():
            raise UserError(f"--columns must be like measured=TIC101.PV,output=TIC101.OP, got {part!r}")
        found[_SHORT.get(name.strip().lower(), name.strip())] = column.strip()
    return found


_SHORT = {"sp": "set_point", "pv": "measured", "op": "output", "t": "time"}


def levels_of(log: Log, rest: float) -> tuple[float, float]:
    """Return where set points led in automatic, as deviations from rest."""
    led = log.set_point if log.automatic is None else log.set_point[log.automatic]
    led = led[np.isfinite(led)] - rest
    return float(led.min(initial=0.0)), float(led.max(initial=0.0))


def assessed(options: argparse.Namespace, log: Log, known: LoopKnowledge) -> LoopAssessment:
    """Assess a log, with a line of progress."""
    with telling(quiet=options.quiet) as tell:
        return assess(log, known, seed=options.seed, accept_valve=options.accept_valve, tell=tell)


@contextmanager
def telling(*, quiet: bool) -> Iterator[Tell]:
    """Give what long computations tell of: a line of progress for each of their parts."""
    lines: dict[str, Progress] = {}

    def tell(what: str, done: int, total: int) -> None:
        if what not in lines:
            for line in lines.values():
                line.clear()
            trials = "trials" if what == "valve" else "tries"
            words = (what, trials) if what == "valve" or "move" in what else (f"plants of {what}", "rounds")
            lines[what] = Progress(total, *words, quiet=quiet)
        lines[what].at(done)

    try:
        yield tell
    finally:
        for line in lines.values():
            line.clear()
