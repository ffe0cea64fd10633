"""What a certificate costs: designs held to margins alone, and designs whose search looks for a Lyapunov function.

    python -m experiments.studies certificates                          # all designs, and the page
    python -m experiments.studies certificates van_der_pol,duffing      # some plants

Of each knowledge base: the certificate at its whole authority, and its fitness against the design's own fixed PID in
fresh draws from the declared ranges. Run folders are gone on with, what was found is recorded; the page is written once
all designs are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.pipeline.assurance.stability import HOLDS
from experiments.runtime import formats
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.afterwards.fresh import StudyCase, change_of, fresh_situations, named, opened, rollouts
from experiments.studies.engine.changes import percent
from experiments.studies.engine.record import StudyRecord
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from sscq.verdict.comparison import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KB, _WHOLE = "knowledge_base", 0.999
MARGINS, REQUIRED = "margins", "required"
_HEAD = (
    *("design", "certificate: margins alone", "authority", "required", "authority"),
    *("J: margins alone", "J: required", "price in J", "IAE: margins alone", "IAE: required"),
)


@dataclass(frozen=True)
class CertifiedPair:
    """A design held to margins alone, and the same one whose search requires a Lyapunov function.

    Attributes
    ----------
    name : str
    found : mapping of "margins" and "required" to mapping
        "outcome", "authority" of the certificate, then changes "J" and "error" against the fixed PID.
    """

    name: str
    found: Mapping[str, Mapping[str, Any]]

    def holds(self, authority: str) -> bool:
        """Whether the rules have a certificate at their whole authority."""
        one = self.found[authority]
        return bool(one["outcome"] == HOLDS and (one["authority"] or 0.0) >= _WHOLE)

    @property
    def price(self) -> float:
        """By how many points of J the certified rules win less."""
        required, margins = (self.found[word]["J"]["value"] for word in (REQUIRED, MARGINS))
        return float(required) - float(margins)

    def row(self) -> list[str]:
        """Return its row of the table."""
        told = [text for word in (MARGINS, REQUIRED) for text in _told(self.found[word])]
        changes = {key: [percent(change_of(self.found[word][key])) for word in (MARGINS, REQUIRED)] for key in _CHANGES}
        return [self.name, *told, *changes["J"], f"{100.0 * self.price:+.1f} points", *changes["error"]]


_CHANGES = ("J", "error")


def _told(one: Mapping[str, Any]) -> tuple[str, str]:
    return str(one["outcome"]), "-" if one["authority"] is None else f"{one['authority']:.3g}"


def outcome(run: Path, draws: int) -> dict[str, Any]:
    """Return the certificate of a design's knowledge base and what became of it in fresh draws."""
    told = formats.read_json(run / "metrics.json")["assurance"]["stability"].get(_KB, {})
    with opened(run) as design:
        blocks = fresh_situations(design.bench.setup, draws)
        fixed, kb = (
            rollouts(design, next(one for one in design.group if one.name == name), blocks) for name in ("fixed", _KB)
        )
        found = compare(kb.sample, fixed.sample, design.bench.setup.seed)
    return {
        "outcome": told.get("outcome", "not made"),
        "authority": told.get("authority"),
        "J": found.mean,
        "error": found.error,
        "new_failures": found.new_failures,
    }


def page(template: Template, pairs: Sequence[CertifiedPair], commits: str) -> str:
    """Return the page; `commits` says at which ones the designs were made."""
    certified = [pair for pair in pairs if pair.holds(REQUIRED)]
    return template.page(
        {
            "draws": template.head["draws"],
            "commits": commits,
            "n_designs": len(pairs),
            "n_before": sum(pair.holds(MARGINS) for pair in pairs),
            "n_after": len(certified),
            "price": f"{100.0 * sum(pair.price for pair in pairs) / len(pairs):+.1f}",
            "largest": f"{100.0 * max(pair.price for pair in pairs):+.1f}",
            "worse": sum(pair.found[REQUIRED]["J"]["value"] > 0.0 for pair in pairs),
            "new_failures": sum(pair.found[REQUIRED]["new_failures"] for pair in pairs),
            "table": markdown_table(_HEAD, [pair.row() for pair in pairs]),
        },
        wrap=True,
    )


def cases(head: Mapping[str, Any], plant: str, seed: int) -> dict[str, StudyCase]:
    """Return the two designs of a pair."""
    settings = (f"plant={plant}", *head["words"])
    return {
        word: StudyCase(f"{plant}-{word}", seed, (*settings, f"assurance.authority={word}"), head["draws"])
        for word in (MARGINS, REQUIRED)
    }


def main(words: Sequence[str]) -> None:
    """Design what is missing, judge afterwards, print what was found; write the page if that is all."""
    template, record = Template.of("certificates"), StudyRecord("certificates")
    head = template.head
    for plant in named(words[0], "plant", head["plants"]) if words else head["plants"]:
        for seed in head["seeds"]:
            for case in cases(head, plant, seed).values():
                made = partial(case.designed, Path(head["runs"]))
                record.found(case.name, case.asked, made, partial(outcome, draws=case.draws))
            print(text_table(_HEAD, [_pair(record, head, plant, seed).row()]), flush=True)
    every = [(plant, seed) for plant in head["plants"] for seed in head["seeds"]]
    named_cases = [case for one in every for case in cases(head, *one).values()]
    if all(record.has(case.name, case.asked) for case in named_cases):
        pairs = [_pair(record, head, *one) for one in every]
        told = page(template, pairs, record.commits(case.name for case in named_cases))
        atomic_files.write(Path(head["page"]), told)
        print(f"page: {head['page']}")


def _pair(record: StudyRecord, head: Mapping[str, Any], plant: str, seed: int) -> CertifiedPair:
    found = {word: record.get(case.name) for word, case in cases(head, plant, seed).items()}
    return CertifiedPair(f"{plant}, seed {seed}", found)
