"""What several designs of one command (-m) have come to: a table of runs, printed and kept beside them.

The table is made of the runs' files alone: ``config.json`` says what was changed on the command line, ``metrics.json``
what is recommended and how it does against the fixed PID in unforeseen situations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.run_folder import read_record
from experiments.runtime.tables import change, number, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "summary.csv"
_BASE = "fixed"
_HEAD = ("run", "settings", "recommended", "fitness", "of fixed PID", "change", "IAE", "travel", "failures")
_COLUMNS = ("run", "settings", "recommended", "fitness", "fitness_of_fixed_pid", "iae", "total_variation", "failures")


def summarise(runs: Sequence[Path]) -> None:
    """Print the table of finished designs and write ``summary.csv`` into the folder that they lie in.

    Parameters
    ----------
    runs : sequence of Path [n_runs]
        Run folders of `sscq design`. The numbers are those of unforeseen situations, in the units of the measures.
    """
    found = rows(runs)
    print("\n".join(["", table(found), f"table: {write(found, runs[0].parent)}"]))


def rows(runs: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what each run has come to, with those of its settings that not all of them have."""
    found = [_row(run) for run in runs]
    shared = set.intersection(*(set(row["settings"]) for row in found)) if found else set()
    for row in found:
        row["settings"] = " ".join(word for word in row["settings"] if word not in shared)
    return found


def table(found: Sequence[dict[str, Any]]) -> str:
    """Return rows as they are printed."""
    return text_table(_HEAD, [_cells(row) for row in found])


def write(found: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Write rows into a folder's ``summary.csv`` and return the file."""
    formats.write_csv(folder / FILE, _COLUMNS, [[row[name] for name in _COLUMNS] for row in found])
    return folder / FILE


def _row(run: Path) -> dict[str, Any]:
    """What a run has come to; its settings are still a list of the words that were typed."""
    metrics = formats.read_json(run / "metrics.json")
    best, base = (metrics["controllers"][name] for name in (metrics["recommended"], _BASE))
    measures = best["measures"]["unforeseen"]
    return {
        "run": run.name,
        "settings": read_record(run)["overrides"],
        "recommended": best["title"],
        "fitness": best["fitness"]["unforeseen"],
        "fitness_of_fixed_pid": base["fitness"]["unforeseen"],
        "iae": measures["iae"],
        "total_variation": measures["total_variation"],
        "failures": best["failures"]["unforeseen"],
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    value, base = row["fitness"], row["fitness_of_fixed_pid"]
    numbers = (number(value), number(base), change(value, base), number(row["iae"]), number(row["total_variation"]))
    return (row["run"], row["settings"], row["recommended"], *numbers, str(row["failures"]))
