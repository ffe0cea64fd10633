"""Pages that are measured and written by a command: ``python -m benchmarks.NAME [--quick] [--folder X]``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import machine
from benchmarks.size import FULL, QUICK

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.size import Size

FOLDER = Path(__file__).parents[1] / "docs" / "performance"


def run(
    name: str,
    about: str | None,
    measure: Callable[[Size], Any],
    write: Callable[[Any, dict[str, Any], Path], None],
    arguments: list[str] | None = None,
    *,
    folder: Path = FOLDER,
) -> None:
    """Measure, and write what was found with the machine's description into the folder asked for.

    Parameters
    ----------
    name, about : str
        Of the command, for its help.
    measure : callable
        Size to findings.
    write : callable
        ``(findings, machine, folder)``.
    folder : Path
        Where the page goes if nothing else is asked for.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--quick", action="store_true", help="small sizes: the figures mean nothing, the paths are run")
    parser.add_argument("--folder", type=Path, default=folder, help="where the page goes (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    described = machine.describe()
    found = measure(QUICK if chosen.quick else FULL)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    write(found, described, chosen.folder)
