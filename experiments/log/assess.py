"""The command ``sscq assess``: what a log says of its loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.log.loop_log import NOT_TOLD, assessed, log_of, loop_of
from experiments.log.report import print_assessment

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> None:
    """Assess a log; SystemExit with 3 where nothing can be told from it."""
    known = loop_of(options)
    log = log_of(options, known)
    found = assessed(options, log, known)
    print_assessment(log, found)
    if found.refusal:
        raise SystemExit(NOT_TOLD)
