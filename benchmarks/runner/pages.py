"""Pages that are measured and written by a command: ``python -m benchmarks.NAME [--quick] [--folder X]``.

Their words are Markdown templates as those of the studies; here is what stands in their places: ranges, lists, medians.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.runner import machine
from benchmarks.runner.size import FULL, QUICK
from experiments.studies.engine.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.runner.size import Size


def span(values: Iterable[float]) -> str:
    """Say from where to where numbers lie."""
    low, high = min(found := list(values)), max(found)
    texts = [f"{value:.2g}" if value < 100.0 else f"{value:,.0f}" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) if names else "none"


def median(values: Iterable[float]) -> str:
    """Say which number lies in the middle."""
    return f"{statistics.median(values):.2g}"


def filled(template: Path, about: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Return a template's page with findings in its places and, at ``{{ about }}``, the machine's description."""
    given = {"about": [f"- {key}: {value}" for key, value in about.items()], **values}
    return Template.read(template).page(given, wrap=True)


TEMPLATES = Path(__file__).parents[1] / "templates"
STUDIES = Path(__file__).parents[2] / "docs" / "studies"
FOLDER = STUDIES.parent / "performance"


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
