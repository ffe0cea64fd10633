"""The figures of this tree beside those of another commit: ``python -m benchmarks structure [--against REV]``."""

from __future__ import annotations

import argparse

from benchmarks.structure import source
from benchmarks.structure.measures import measures
from experiments.runtime.tables import markdown_table


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks structure", description=__doc__)
    parser.add_argument("--against", metavar="REVISION", help="a commit of this repository to stand beside")
    chosen = parser.parse_args(arguments)
    columns = {"this tree": measures(source.of_folder())}
    if chosen.against:
        try:
            columns = {chosen.against: measures(source.of_revision(chosen.against)), **columns}
        except ValueError as error:
            parser.error(str(error))
    print(table(columns))


def table(columns: dict[str, dict[str, str]]) -> str:
    """Return figures as Markdown, one column a tree."""
    first, *_ = columns.values()
    rows = [[what, *(found[what] for found in columns.values())] for what in first]
    return "\n".join(markdown_table(["measured", *columns], rows))
