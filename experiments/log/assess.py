"""The command ``sscq assess``: what a log says of its loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.log.loop_log import NOT_TOLD, assessed, log_of, loop_of, telling
from experiments.log.report import print_assessment
from sscq.identification.plan import planned
from sscq.identification.promise import loop_law

if TYPE_CHECKING:
    import argparse

    from sscq.identification.assessing.assessment import LoopAssessment
    from sscq.identification.loop_knowledge import LoopKnowledge
    from sscq.identification.reading.log import Log


def run(options: argparse.Namespace) -> None:
    """Assess a log; SystemExit with 3 where nothing can be told from it."""
    known = loop_of(options)
    log = log_of(options, known)
    found = assessed(options, log, known)
    print_assessment(log, found)
    if options.plan:
        _print_plan(options, log, known, found)
    if found.refusal:
        raise SystemExit(NOT_TOLD)


def _print_plan(options: argparse.Namespace, log: Log, known: LoopKnowledge, found: LoopAssessment) -> None:
    """Print which move would tell more, within what it stays, and how much more it tells."""
    print()
    if found.ensemble is None or found.present is None:
        what = "plants" if found.ensemble is None else "present gains (--present kp,ki)"
        print(f"no move can be planned without {what}")
        return
    low, high = known.output_limits
    law = loop_law(found.ensemble, known.output_limits, sample_time=known.sample_time or log.step)
    own = np.abs(found.present.vector)
    with telling(quiet=options.quiet) as tell:
        moves = planned(found.ensemble, own.tolist(), law, spans=(known.output_span(log), high - low), tell=tell)
    rest_y, rest_u = found.ensemble.records[0].origin
    rows = [
        ("set point", f"{moves.height:g} up, and back again"),
        ("each held for", f"{moves.hold:g} s, {2.25 * moves.hold:.0f} s in all with a rest before"),
        ("in", "automatic, with the present gains, at a quiet time"),
        ("measured value stays in", _range(rest_y, moves.measured)),
        ("output stays in", _range(rest_u, moves.output)),
        ("deviation of the gain's logarithm", f"{moves.before:.2f} now, {np.median(moves.after):.2f} then"),
        ("plants can then be told", f"in {moves.told} of {len(moves.after)} tries"),
    ]
    print("the move to make")
    width = max(len(label) for label, _ in rows)
    print("\n".join(f"  {label:<{width}}  {value}" for label, value in rows))


def _range(rest: float, ends: tuple[float, float]) -> str:
    return f"{rest + ends[0]:.4g} to {rest + ends[1]:.4g} (99 % of the plants)"
