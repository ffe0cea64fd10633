"""Three plants that drift while they are controlled: the renewed knowledge base and its four rivals.

    python -m experiments.studies operation                      # designs, all seeds, and the page
    python -m experiments.studies operation van_der_pol          # some of it; the page is written once all is there
    python -m experiments.studies operation seeds=1 van_der_pol  # with other settings: printed only

Plants, courses and settings are declared in experiments/studies/declarations/operation.yaml. Finished designs and runs
are not repeated, stopped ones are gone on with; what became of them is recorded.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from experiments.operate import told
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.engine.record import StudyRecord
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from plants.core.names import unknown
from sscq.operation.contest import CONTENDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DECLARED = Path(__file__).parent / "declarations" / "operation.yaml"
RESULT = "operation.json"


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

    @property
    def name(self) -> str:
        """What the record calls it."""
        return f"{self.plant}, {self.run}"

    def asked(self, seeds: int) -> list[Any]:
        """What its run depends on."""
        return [self.plant, list(self.design), self.drift, list(self.words), seeds]


def declared() -> dict[str, Any]:
    """Return the declaration, its plants as records."""
    found: dict[str, Any] = yaml.safe_load(DECLARED.read_text(encoding="utf-8"))
    plants = [
        OperatedPlant(**{**one, "design": tuple(one["design"]), "words": tuple(one["words"])})
        for one in found["plants"]
    ]
    return {**found, "plants": plants}


def main(words: Sequence[str]) -> None:
    """Run what is asked for; write the page once all that is declared has been run as it is declared."""
    study, record = declared(), StudyRecord("operation")
    known = [one.plant for one in study["plants"]]
    names = [word for word in words if "=" not in word]
    further = [word for word in words if "=" in word and not word.startswith("seeds=")]
    seeds = _seeds(words, study["seeds"])
    for name in names:
        if name not in known:
            raise UserError(unknown("plant of the study", name, known))
    as_declared = not further and seeds == study["seeds"]
    for one in study["plants"]:
        if not names or one.plant in names:
            make = partial(operated, one, Path(study["runs"]), seeds, further)
            found = record.found(one.name, one.asked(seeds), make, told_of) if as_declared else told_of(make())
            print(f"\n{one.title}: {one.drift}\n{text_table(told.HEAD, told.rows(found))}", flush=True)
    if as_declared and all(record.has(one.name, one.asked(seeds)) for one in study["plants"]):
        runs = [(one, record.get(one.name)) for one in study["plants"]]
        text = page(runs, seeds, record.commits(one.name for one in study["plants"]))
        atomic_files.write(Path(study["page"]), text)
        print(f"page: {study['page']}")


def _seeds(words: Sequence[str], usual: int) -> int:
    given = [word.partition("=")[2] for word in words if word.startswith("seeds=")]
    if not given:
        return usual
    if not given[-1].isdigit() or not int(given[-1]):
        raise UserError(f"seeds must be a whole number above 0, got {given[-1]!r}")
    return int(given[-1])


def operated(one: OperatedPlant, folder: Path, seeds: int, further: Sequence[str] = ()) -> Path:
    """Return the folder of a plant's run, which is made if it is not there; so is the design it begins with."""
    design, run = folder / one.plant / "design", folder / one.plant / f"{one.run}_{seeds}"
    kb = design / "knowledge_base.json"
    _made(kb, design, "design", f"plant={one.plant}", *one.design)
    _made(run / RESULT, run, "operate", f"kb={kb}", f"drift={one.drift}", f"seeds={seeds}", *one.words, *further)
    return run


def told_of(run: Path) -> dict[str, Any]:
    """Return what the page tells of a run: "windows", "window" and "runs", one for each seed.

    Of a seed: "totals" of each contender, and "decisions", how often each was made for the knowledge base.
    """
    document = formats.read_json(run / RESULT)
    runs = [
        {"totals": one["totals"], "decisions": _decisions(one["timelines"]["knowledge_base"])}
        for one in document["runs"]
    ]
    return {"windows": document["windows"], "window": document["window"], "runs": runs}


def _decisions(timeline: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(one["decision"] for one in timeline if one["decision"]).items()))


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


def page(found: Sequence[tuple[OperatedPlant, dict[str, Any]]], seeds: int, commits: str) -> str:
    """Return the page as Markdown; `commits` says at which ones the runs were made."""
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
            "decisions": "\n".join(f"- {line}" for line in _all_decisions(document)),
        }
        sections.append("\n".join(template.lines("plant", values)))
    handed = sum(_sum(document, "handovers") for _, document in found)
    bad = sum(_sum(document, "unstable") for _, document in found)
    values = {"seeds": seeds, "plants": "\n\n".join(sections), "handovers": handed, "unstable": bad, "commits": commits}
    drifting = [document for _, document in found if "fixed" in document["runs"][0]["totals"]]
    values |= {"drifting": len(drifting), "tracking_better": sum(map(_tracks_better, drifting))}
    return "\n".join(template.lines("page", values)) + "\n"


def _tracks_better(document: dict[str, Any]) -> bool:
    """Whether the renewed knowledge base has less error than fixed gains, of the whole course and renewed."""
    sums = {name: sum(run["totals"][name]["iae"] for run in document["runs"]) for name in CONTENDERS}
    return bool(sums["knowledge_base"] < min(sums["fixed"], sums["renewed"]))


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


def _all_decisions(document: dict[str, Any]) -> list[str]:
    """How often each decision was made for the knowledge base, over all seeds."""
    counts: Counter[str] = sum((Counter(run["decisions"]) for run in document["runs"]), Counter())
    return [f"{decision}: {count}" for decision, count in sorted(counts.items())]
