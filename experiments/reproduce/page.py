"""The page of all claims: claim, command, picture, verdict; as HTML that stands alone, and as a Markdown table."""

from __future__ import annotations

import base64
import os
import platform
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, document, element, join
from experiments.reproduce.results import ClaimVerdict
from experiments.runtime.tables import markdown_table
from experiments.studies.engine.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.reproduce.attempt import ClaimRun
    from experiments.reproduce.results import ClaimTable

TEMPLATE = Path(__file__).parent / "templates" / "page.md"
_STYLES = {ClaimVerdict.AGREES: "gain", ClaimVerdict.NOT_REPRODUCIBLE: "even"}


def counted(runs: Sequence[ClaimRun]) -> str:
    """Say how many claims got each of the four words, and how many failed."""
    number = Counter(run.word for run in runs)
    words = [*ClaimVerdict, *(["failed"] if number["failed"] else [])]
    return f"{len(runs)} claims: " + ", ".join(f"{number[word]} {word}" for word in words)


def machine() -> str:
    """Say what computed this."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.machine()}, {count} processors usable, Python {platform.python_version()}"


def pages(runs: Sequence[ClaimRun]) -> Mapping[str, str]:
    """Return the pages by file name."""
    head = ("claim", "source", "published", "ours", "verdict")
    rows = [(f"`{run.claim.name}`", run.claim.source, run.claim.published, *_found(run)) for run in runs]
    values = {"counts": f"{counted(runs)}.", "machine": machine(), "table": markdown_table(head, rows)}
    return {"index.html": html(runs), "reproduce.md": Template.read(TEMPLATE).page(values, wrap=True)}


def _found(run: ClaimRun) -> tuple[str, str]:
    if run.found is None:
        return "", f"failed: {run.error}"
    return run.found.ours, f"**{run.found.verdict}**: {run.found.reason}"


def html(runs: Sequence[ClaimRun]) -> str:
    """Return the whole page."""
    lead = element("p", f"{counted(runs)}. Computed on {machine()}.", class_="lead")
    return document("What is published,", "computed again", lead, _contents(runs), *map(_section, runs))


def _contents(runs: Sequence[ClaimRun]) -> Html:
    head = element("tr", *(element("th", cell, class_="words") for cell in ("claim", "verdict", "published", "ours")))
    rows = [
        element(
            "tr",
            element("th", element("a", run.claim.title, href=f"#{run.claim.name}")),
            element("td", _word(run), class_="words"),
            element("td", run.claim.published, class_="words"),
            element("td", run.found.ours if run.found else "", class_="words"),
        )
        for run in runs
    ]
    return element(
        "section",
        element(
            "div", element("table", element("thead", head), element("tbody", *rows), class_="claims"), class_="scroll"
        ),
    )


def _word(run: ClaimRun) -> Html:
    style = _STYLES.get(run.found.verdict, "loss") if run.found else "loss"
    return element("b", run.word, class_=style)


def _section(run: ClaimRun) -> Html:
    one, found = run.claim, run.found
    parts = [
        element("h2", one.title, id=one.name),
        element("p", one.claim, " ", element("small", f"({one.source})")),
        element("p", element("code", f"sscq reproduce {one.name}")),
        element("p", "Published: ", one.published),
    ]
    if found is None:
        return element("section", *parts, element("p", _word(run), ": ", run.error))
    parts.append(element("p", "Ours: ", found.ours))
    parts.append(element("p", _word(run), ". ", found.reason))
    if found.svg:
        coded = base64.b64encode(found.svg.encode("utf-8")).decode("ascii")
        picture = element("img", src=f"data:image/svg+xml;base64,{coded}", alt=one.title, style="max-width:100%")
        parts.append(element("div", picture, class_="scroll"))
    return element("section", *parts, *map(_table, found.tables))


def _table(table: ClaimTable) -> Html:
    head = element("tr", *(element("th", cell, class_="words") for cell in table.head))
    rows = join(element("tr", *(element("td", cell, class_="words") for cell in row)) for row in table.rows)
    inside = element("table", element("thead", head), element("tbody", rows))
    return element("details", element("summary", f"{table.title} ({len(table.rows)} rows)"), inside)
