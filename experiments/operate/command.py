"""Simulate a long run in which the plant drifts and a supervisor renews the knowledge base, against four contenders.

As in::

    sscq operate kb=runs/design/20250101-120000/knowledge_base.json drift=mu:[0=1,80=1,560=6]
    sscq operate kb=knowledge_base.json drift=mu:[0=1,160=1,160=4] estimate=identified windows=4 seeds=5
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from experiments.operate import page, told
from experiments.operate.case import prepared
from experiments.operate.record import SCHEMA
from experiments.runtime import formats
from experiments.runtime.progress import Progress
from experiments.starting.launch import command
from sscq.operation.contest import CONTENDERS, plain, totals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from configs.schema import OperateConfig
    from experiments.operate.case import OperateCase
    from experiments.operate.record import OperatedSeed, OperationRecord
    from experiments.runtime.run_folder import RunFolder


def operate(config: OperateConfig, folder: RunFolder) -> None:
    """Run all contenders, write operation.html and operation.json, and print what they show."""
    case = prepared(config)
    names = [name for name in CONTENDERS if name in config.contenders]
    runs: list[OperatedSeed] = []
    for number, contest in enumerate(case.contests):
        timelines: dict[str, Any] = {}
        for name in names:
            title = f"{CONTENDERS[name]}, seed {number + 1} of {len(case.contests)}"

            def compute(_: Path, name: str = name, title: str = title, number: int = number) -> list[dict[str, Any]]:
                with Progress(config.windows, title, "windows", quiet=config.quiet) as progress:
                    return plain(case.contests[number].run(name, lambda: progress.at(progress.done + 1)))

            timelines[name] = folder.stage(f"{name}_{number + 1}", compute, *formats.as_json("timeline.json"))
        of_each = {name: totals(timeline) for name, timeline in timelines.items()}
        runs.append({"seed": contest.seed, "timelines": timelines, "totals": of_each})
    document = documented(case, runs)
    written = folder.write_json("operation.json", document)
    shown = folder.write_text("operation.html", page.page(document))
    print("\n".join(told.lines(document)))
    print(f"timeline: {shown}\nnumbers: {written}")


def documented(case: OperateCase, runs: list[OperatedSeed]) -> OperationRecord:
    """Return all that a run in operation says as plain data."""
    contest = case.contests[0]
    units = {q.name: q.unit for q in case.plant.parameters}
    return {
        "schema": SCHEMA,
        "plant": case.plant.name,
        "knowledge_base": case.kb.content_hash,
        "drift": str(case.course),
        "units": {name: units[name] for name in case.course.names},
        "window": contest.programme.window_time,
        "windows": contest.programme.windows,
        "travel": contest.task.travel,
        "runs": runs,
    }


def checked(config: OperateConfig) -> None:
    """Raise where a run could not begin, before anything is written."""
    prepared(config)


_run = command("operate", operate, checked)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; a drift may be written without quotes, which Hydra would ask for."""
    given = list(sys.argv[1:] if words is None else words)
    _run([re.sub(r"^(drift)=([^'\"].*)$", r"\1='\2'", word) for word in given])


if __name__ == "__main__":
    main()
