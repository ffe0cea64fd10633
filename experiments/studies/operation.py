"""Three plants that drift while they are controlled: the renewed knowledge base and its four rivals.

    python -m experiments.studies operation                      # designs, all seeds, and the page
    python -m experiments.studies operation seeds=1 van_der_pol  # some of it, printed only

Plants, courses and settings are declared in experiments/studies/declarations/operation.yaml. Finished designs and runs
are not repeated, stopped ones are gone on with.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from experiments.operate import told
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from plants.core.names import unknown
from sscq.operation.contest import CONTENDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

DECLARED = Path(__file__).parent / "declarations" / "operation.yaml"


@dataclass(frozen=True)
class OperatedPlant:
    """A plant of the study: what its design and its run are told; `title` says it in words, `run` names the folder.

    Several runs may begin with the same plant's design.
    """

    title: str
    plant: str
    design: tuple[str, ...]
    drift: str
    words: tuple[str, ...]
    run: str = "operation"


def declared() -> dict[str, Any]:
    """Return the declaration, its plants as records."""
    found: dict[str, Any] = yaml.safe_load(DECLARED.read_text(encoding="utf-8"))
    plants = [
        OperatedPlant(**{**one, "design": tuple(one["design"]), "words": tuple(one["words"])})
        for one in found["plants"]
    ]
    return {**found, "plants": plants}


def main(words: Sequence[str]) -> None:
    """Run what is asked for; the page is written of the whole study alone."""
    study = declared()
    known = [one.plant for one in study["plants"]]
    names = [word for word in words if "=" not in word]
    further = [word for word in words if "=" in word and not word.startswith("seeds=")]
    seeds = _seeds(words, study["seeds"])
    for name in names:
        if name not in known:
            raise UserError(unknown("plant of the study", name, known))
    found = []
    for one in study["plants"]:
        if not names or one.plant in names:
            found.append((one, operated(one, Path(study["runs"]), seeds, further)))
            print(f"\n{one.title}: {one.drift}\n{text_table(told.HEAD, told.rows(found[-1][1]))}", flush=True)
    if not names and not further and seeds == study["seeds"]:
        atomic_files.write(Path(study["page"]), page(found, seeds))
        print(f"page: {study['page']}")


def _seeds(words: Sequence[str], usual: int) -> int:
    given = [word.partition("=")[2] for word in words if word.startswith("seeds=")]
    if not given:
        return usual
    if not given[-1].isdigit() or not int(given[-1]):
        raise UserError(f"seeds must be a whole number above 0, got {given[-1]!r}")
    return int(given[-1])


def operated(one: OperatedPlant, folder: Path, seeds: int, further: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document of a plant's run, which is made if it is not there; so is the design it begins with."""
    design, run = folder / one.plant / "design", folder / one.plant / f"{one.run}_{seeds}"
    kb = design / "knowledge_base.json"
    _made(kb, design, "design", f"plant={one.plant}", *one.design)
    result = run / "operation.json"
    _made(result, run, "operate", f"kb={kb}", f"drift={one.drift}", f"seeds={seeds}", *one.words, *further)
    found: dict[str, Any] = formats.read_json(result)
    return found


def _made(result: Path, folder: Path, *words: str) -> None:
    """Run a command until its result is there; a stopped run is gone on with."""
    if result.is_file():
        return
    command, *settings = words
    where = [f"resume={folder}"] if (folder / "config.json").is_file() else [*settings, f"output={folder}"]
    done = subprocess.run([sys.executable, "-m", "experiments.cli", command, *where], check=False)  # noqa: S603  (our own)
    if done.returncode or not result.is_file():
        raise UserError(f"`sscq {command}` has made no {result}; its folder is {folder}")


# ------------------------------------------------------------------------------------------------------------ the page


def page(found: Sequence[tuple[OperatedPlant, dict[str, Any]]], seeds: int) -> str:
    """Return the page as Markdown."""
    template = Template.of("operation")
    sections = []
    for one, document in found:
        values = {
            "title": one.title,
            "plant": one.plant,
            "drift": one.drift,
            "windows": document["windows"],
            "window": f"{document['window']:g}",
            "table": "\n".join(markdown_table(told.HEAD, told.rows(document), numbers=True)),
            "each": "\n".join(markdown_table(*_by_seed(document), numbers=True)),
            "decisions": "\n".join(f"- {line}" for line in _decisions(document)),
        }
        sections.append("\n".join(template.lines("plant", values)))
    handed = sum(_sum(document, "handovers") for _, document in found)
    bad = sum(_sum(document, "unstable") for _, document in found)
    values = {"seeds": seeds, "plants": "\n".join(sections), "handovers": handed, "unstable": bad}
    return "\n".join(template.lines("page", values)) + "\n"


def _by_seed(document: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of those that took part."""
    part = [name for name in CONTENDERS if name in document["runs"][0]["totals"]]
    rows = [
        (str(number), *(f"{run['totals'][name]['iae']:.4g}" for name in part))
        for number, run in enumerate(document["runs"], 1)
    ]
    return ("seed", *(CONTENDERS[name] for name in part)), rows


def _sum(document: dict[str, Any], what: str) -> int:
    both = {"knowledge_base", "renewed"} & set(document["runs"][0]["totals"])
    return sum(run["totals"][name][what] for run in document["runs"] for name in both)


def _decisions(document: dict[str, Any]) -> list[str]:
    """How often each decision was made for the knowledge base, over all seeds."""
    counts: dict[str, int] = {}
    for run in document["runs"]:
        for one in run["timelines"]["knowledge_base"]:
            if one["decision"]:
                counts[one["decision"]] = counts.get(one["decision"], 0) + 1
    return [f"{decision}: {count}" for decision, count in sorted(counts.items())]
