"""The command ``sscq verify``: a log with the new gains, against what the sheet promised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.log.loop_log import NOT_TOLD, log_of, loop_of
from sscq.identification import stored
from sscq.identification.verification import verify

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> None:
    """Say whether the ensemble still explains the loop; SystemExit with 3 where it does not."""
    known = loop_of(options)
    after = log_of(options, known)
    ensemble = stored.load_ensemble(Path(options.sheet) / "identified.json")
    found = verify(ensemble, after)
    print(f"{after.name}: {found.rows} rows, mean |error| {found.error:.3g}, output moves {found.travel:.3g} a row")
    if options.before is not None:
        earlier = verify(ensemble, log_of(options, known, options.before))
        change = found.error / earlier.error - 1.0
        print(f"before: mean |error| {earlier.error:.3g}, so {100.0 * change:+.0f} %; comparable where the moves are")
    print(f"innovations: chance of being so large {found.surprise:.2g}, Ljung-Box {found.portmanteau:.0f} (at most 60)")
    if found.explained:
        print("the plants of the sheet still explain the loop")
        return
    print("the plants of the sheet do not explain this log: loop, loads or noise have changed; commission it again")
    raise SystemExit(NOT_TOLD)
