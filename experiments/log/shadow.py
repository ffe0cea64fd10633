"""The command ``sscq shadow``: what the gains of a sheet would have asked along a log, before anybody types them in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.log.loop_log import log_of, loop_of
from experiments.log.sheet import gains_on
from experiments.runtime import formats
from experiments.runtime.tables import text_table
from sscq.identification.shadow import shadowed

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> None:
    """Print the moves of both, and write them row by row where a file is named."""
    gains = gains_on(Path(options.sheet) / "commissioning.json")
    known = loop_of(options)
    log = log_of(options, known)
    found = shadowed(log, gains, known.output_limits)
    print(f"{log.name}: {found.rows} rows in automatic, gains of {options.sheet} beside what was done")
    rows = [
        ("as it ran", f"{found.made / found.rows:.3g}", f"{found.largest_made:.3g}", "-"),
        ("with the sheet's gains", f"{found.travel / found.rows:.3g}", f"{found.largest:.3g}", f"{found.at_limit:.1%}"),
    ]
    print(text_table(("output", "mean move a row", "largest move", "rows at a limit"), rows))
    print("each row begins at the output that was there: how hard the new gains pull, not how the loop would answer")
    if options.output is not None:
        table = zip(log.time.tolist(), log.output.tolist(), found.asked.tolist(), strict=True)
        formats.write_csv(Path(options.output), ("time", "output", "asked"), [list(row) for row in table])
        print(f"row by row: {options.output}")
