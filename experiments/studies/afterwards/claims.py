"""Whether a verdict holds afterwards: designs, then situations that no design has seen.

    python -m experiments.studies coverage                     # all plants and seeds, and the page
    python -m experiments.studies coverage fopdt,van_der_pol   # some plants
    python -m experiments.studies safety                       # designs where a verdict is easily wrong, and the page
    python -m experiments.studies safety linear,noise          # some of their groups

Designs are `sscq design budget=small`; run folders are gone on with and what was found of them is recorded: a page is
written once all of its designs are. Afterwards the controller that the verdict speaks of is compared with the fixed PID
in situations with new seeds: the recommended one or, where the verdict is to use the fixed gains, the knowledge base.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.afterwards.fresh import StudyCase, change_of, fresh_situations, named, opened, rollouts
from experiments.studies.engine.changes import percent
from experiments.studies.engine.record import StudyRecord
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from sscq.verdict.comparison import compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sscq.verdict.bootstrap import Change

    Groups = Mapping[str, Sequence[StudyCase]]

_HEAD = (
    "design",
    "seed",
    "judged",
    "verdict",
    "claimed change of J, both survive",
    "afterwards",
    "covered",
    "worst 5 % afterwards",
    "new failures",
    "lost / by the fixed PID",
)
_OF_GROUPS = ("group", "designs", "recommended", "of these worse afterwards", "covered")


@dataclass(frozen=True)
class Claim:
    """What a verdict said of a controller, and what came afterwards; all changes are against the fixed PID.

    Attributes
    ----------
    case, title : str
        What was designed; the controller.
    seed : int
    recommended : bool
    claimed : Change
        Of the mean of J, in the verdict's situations.
    found, tail : Change
        Of the mean of J and of its worst 5 %, afterwards.
    new_failures : int
        Afterwards.
    failures : tuple of int
        Rollouts that it and the fixed PID lose afterwards.
    """

    case: str
    seed: int
    title: str
    recommended: bool
    claimed: Change
    found: Change
    tail: Change
    new_failures: int
    failures: tuple[int, int]

    @classmethod
    def of_plain(cls, stored: Mapping[str, Any]) -> Claim:
        """Return the claim that was kept as plain data."""
        changes = {name: change_of(stored[name]) for name in ("claimed", "found", "tail")}
        return cls(**{**stored, **changes, "failures": tuple(stored["failures"])})

    @property
    def covered(self) -> bool:
        """Whether the claimed interval of the mean holds the change found afterwards."""
        return self.claimed.low <= self.found.value <= self.claimed.high

    @property
    def kept(self) -> bool:
        """Whether a recommended controller is no worse than the fixed PID in mean and worst 5 %, and loses no more."""
        worse = self.found.value > 0.0 or self.tail.value > 0.0 or self.failures[0] > self.failures[1]
        return not (self.recommended and worse)

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        return (
            self.case,
            str(self.seed),
            self.title,
            "recommended" if self.recommended else "use the fixed gains",
            percent(self.claimed),
            percent(self.found),
            "yes" if self.covered else "NO",
            percent(self.tail) + ("" if self.kept else " WORSE"),
            str(self.new_failures),
            "{} / {}".format(*self.failures),
        )


def claim(run: Path, case: StudyCase) -> Claim:
    """Return what a finished design claims, beside situations made now."""
    with opened(run) as design:
        verdict = design.judged()[1].verdict
        recommended = verdict.recommended != verdict.baseline
        name = verdict.recommended if recommended else "knowledge_base"
        group = {one.name: one for one in design.group}
        job = design.bench.setup
        blocks = fresh_situations(job, case.draws)
        one, fixed = (rollouts(design, group[key], blocks).sample for key in (name, verdict.baseline))
    found = compare(one, fixed, job.seed)
    return Claim(
        case.title,
        case.seed,
        group[name].title,
        recommended,
        verdict.comparisons[name].headline,
        found.mean,
        found.tail,
        found.new_failures,
        found.failures,
    )


def coverage(words: Sequence[str]) -> None:
    """Run the study of plants with usual settings; `words` may name some plants."""
    _run("coverage", coverage_cases(Template.of("coverage")), "plant", words)


def safety(words: Sequence[str]) -> None:
    """Run the study of designs where a verdict is easily wrong; `words` may name some of their groups."""
    _run("safety", safety_cases(Template.of("safety")), "group", words)


def coverage_cases(template: Template) -> Groups:
    """Return the designs that the study's template declares, by plant."""
    head = template.head
    return {
        plant: [StudyCase(plant, seed, (f"plant={plant}", "budget=small"), head["draws"]) for seed in head["seeds"]]
        for plant in head["plants"]
    }


def safety_cases(template: Template) -> Groups:
    """Return the designs that the study's template declares, by group."""
    return {
        name: [
            StudyCase(title, seed, (*words, "budget=small"), group["draws"])
            for title, words in group["cases"].items()
            for seed in range(group["seeds"])
        ]
        for name, group in template.head["groups"].items()
    }


def _run(study: str, groups: Groups, kind: str, words: Sequence[str]) -> None:
    """Design what is missing of what is asked for, judge afterwards, print the table; write the page if that is all."""
    template, record = Template.of(study), StudyRecord(study)
    found = []
    for name in named(words[0], kind, groups) if words else groups:
        for case in groups[name]:
            made = partial(case.designed, Path(template.head["runs"]))
            found.append(Claim.of_plain(record.found(case.name, case.asked, made, partial(claim, case=case))))
            print(text_table(_HEAD, [found[-1].row()]).splitlines()[-1], flush=True)
    told = counts(found)
    print("covered {covered} of {n}; recommended {recommended}, of these worse afterwards {worse}".format(**told))
    every = [case for cases in groups.values() for case in cases]
    if all(record.has(case.name, case.asked) for case in every):
        claims = {name: [Claim.of_plain(record.get(case.name)) for case in cases] for name, cases in groups.items()}
        told_page = page(template, claims, record.commits(case.name for case in every))
        atomic_files.write(Path(template.head["page"]), told_page)
        print(f"page: {template.head['page']}")


def counts(claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many designs there are, how many are covered and recommended, and how many of these are worse."""
    return {
        "n": len(claims),
        "covered": sum(one.covered for one in claims),
        "recommended": sum(one.recommended for one in claims),
        "worse": sum(not one.kept for one in claims),
    }


def page(template: Template, found: Mapping[str, Sequence[Claim]], commits: str) -> str:
    """Return the page of what was found, by group; `commits` says at which ones."""
    claims = [one for several in found.values() for one in several]
    of_groups = [
        [name, *(str(told[key]) for key in ("n", "recommended", "worse", "covered"))]
        for name, told in ((name, counts(several)) for name, several in found.items())
    ]
    return template.page(
        {
            **counts(claims),
            "commits": commits,
            "draws": template.head.get("draws"),
            "groups": markdown_table(_OF_GROUPS, of_groups),
            "table": markdown_table(_HEAD, [one.row() for one in claims]),
        }
    )
