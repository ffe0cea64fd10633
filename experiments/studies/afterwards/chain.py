"""Whether the chain from search to network to rules earns its place: what every rung of the ladder is worth afterwards.

    python -m experiments.studies chain                                   # all designs, and the page
    python -m experiments.studies chain van_der_pol,duffing 0,1 small     # some plants, seeds, budgets

Run folders are gone on with, and what was found of each design is recorded, so that the study may be run in parts and
by several processes; the page tells of the budgets that are whole. Each rung is compared with the design's fixed PID in
fresh draws from the declared ranges. Where the folder that the template calls `before` has a run of an older release by
the same name, what that would have one use and its knowledge base are judged in the same draws.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cases.stored_controllers import stored_controller
from experiments.runtime import formats
from experiments.studies.afterwards.chain_page import (
    BEFORE,
    COLUMNS,
    KB_BEFORE,
    ChainDesign,
    cells,
    page,
    printed,
)
from experiments.studies.afterwards.fresh import StudyCase, fresh_situations, named, opened, rollouts
from experiments.studies.engine.record import StudyRecord
from experiments.studies.engine.template import Template
from flcs import KnowledgeBase, lint
from plants.core import atomic_files
from sscq.baselines.tuned import Tuned
from sscq.verdict.comparison import change_where_alive, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.pipeline.search_stages import SearchedDesign
    from experiments.settings import Setup
    from experiments.studies.afterwards.fresh import FreshRollouts

_NOT_COMPARED = ("fixed", "open_loop", "oracle")


def cases(head: Mapping[str, Any], words: Sequence[str] = ()) -> list[StudyCase]:
    """Return the designs that the template's head declares, or those that words name: plants, seeds, budgets."""
    plants = named(words[0], "plant", head["plants"]) if words else head["plants"]
    budgets = named(words[2], "budget", head["budgets"]) if len(words) > 2 else head["budgets"]
    known = {str(seed) for seeds in head["budgets"].values() for seed in seeds}
    seeds = {int(seed) for seed in (named(words[1], "seed", sorted(known)) if len(words) > 1 else known)}
    return [
        StudyCase(
            f"{plant}-{budget}",
            seed,
            (f"plant={plant}", f"budget={budget}", *head["words"].get(budget, ())),
            head["draws"],
        )
        for budget in budgets
        for plant in plants
        for seed in head["budgets"][budget]
        if seed in seeds
    ]


def outcome(run: Path, draws: int) -> dict[str, Any]:
    """Return what became of a finished design's rungs in fresh draws, and what its rules say.

    Returns
    -------
    dict
        "rows", one for each rung, and "rules" of each knowledge base by its rung's name; see `ChainDesign`.
    """
    metrics = formats.read_json(run / "metrics.json")
    with opened(run) as design:
        told = [(one, metrics["controllers"][one.name]) for one in design.group if one.name not in _NOT_COMPARED]
        rows = _rows(design, told, draws, metrics["recommended"])
    for row in rows:
        row["held_against"] = list(metrics["comparisons"][row["rung"]]["reasons"])
    return {"rows": rows, "rules": {"knowledge_base": rules_of(run, metrics)}}


def older_outcome(run: Path, before: Path, draws: int) -> dict[str, Any]:
    """Return the same of a run of an older release, against the fixed PID of today's design and in the same draws."""
    metrics = formats.read_json(before / "metrics.json")
    with opened(run) as design:
        rows = _rows(design, older_rungs(before, design.bench.setup, metrics), draws, "")
    return {"rows": rows, "rules": {KB_BEFORE: rules_of(before, metrics)}}


def _rows(
    design: SearchedDesign, told: Sequence[tuple[Tuned, Mapping[str, Any]]], draws: int, recommended: str
) -> list[dict[str, Any]]:
    """What became of each rung; beside it what the metrics of its design tell."""
    blocks = fresh_situations(design.bench.setup, draws)
    fixed = rollouts(design, next(one for one in design.group if one.name == "fixed"), blocks)
    return [
        {
            "rung": one.name,
            "title": one.title,
            "recommended": one.name == recommended,
            **_changes(rollouts(design, one, blocks), fixed, design.bench.setup.seed),
            "sensitivity": _largest(numbers["max_sensitivity"]),
            "transient_sensitivity": _largest(numbers.get("max_transient_sensitivity", ())),
        }
        for one, numbers in told
    ]


def _changes(one: FreshRollouts, fixed: FreshRollouts, seed: int) -> dict[str, Any]:
    found, lost = compare(one.sample, fixed.sample, seed), one.sample.failed | fixed.sample.failed
    return {
        "J": found.mean,
        "error": found.error,
        "entropy": change_where_alive(one.entropy, fixed.entropy, lost, seed),
        "travel": found.travel,
        "tail": found.tail,
        "new_failures": found.new_failures,
        "failures": int(one.sample.failed.sum()),
    }


def _largest(values: Sequence[float | None]) -> float | None:
    """The largest number; none where there are none, or where one of them is not finite."""
    return max((value for value in values if value is not None), default=None) if None not in values else None


def older_rungs(before: Path, job: Setup, metrics: Mapping[str, Any]) -> list[tuple[Tuned, Mapping[str, Any]]]:
    """Return what an older release would have one use, and its knowledge base, each with what its metrics tell."""
    found = []
    for rung, name in ((BEFORE, metrics["recommended"]), (KB_BEFORE, "knowledge_base")):
        told = metrics["controllers"][name]
        controller, theta = stored_controller(before, job, name, told)
        found.append((Tuned(rung, told["title"], controller=controller, theta=theta), told))
    return found


def rules_of(run: Path, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many rules a run's knowledge base has, what `sscq lint` says of them, and who tells them.

    A sentence is untrue where one of its words is (L703). `told_by_two`, the mean of the channels: the part of what
    the rules say in the taught situations that the two strongest of each moment tell.
    """
    file = run / "knowledge_base.json"
    findings = lint(file)
    untrue = {(f.channel, f.numbers["input"], f.numbers["term"]) for f in findings if f.code == "L703"}
    sentences = [
        {(base.name, variable.name, term) for variable, term in zip(base.inputs, rule.terms, strict=True)}
        for base in KnowledgeBase.load(file).channels
        for rule in base.rules
        if rule.on
    ]
    by_two = [part for part in metrics.get("told_by_two_rules", {}).get("equal", ()) if part is not None]
    return {
        "rules": len(sentences),
        "untrue_sentences": sum(bool(words & untrue) for words in sentences),
        "untrue_words": len(untrue),
        "errors": sum(finding.severity == "error" for finding in findings),
        "told_by_two": sum(by_two) / len(by_two) if by_two else None,
    }


def main(words: Sequence[str]) -> None:
    """Design what is missing, judge afterwards, print what was found; write the page of the budgets that are whole."""
    template, record = Template.of("chain"), StudyRecord("chain")
    head = template.head
    for case in cases(head, words):
        before = Path(head["before"]) / case.name
        made = partial(case.designed, Path(head["runs"]))
        record.found(case.name, case.asked, made, partial(outcome, draws=case.draws))
        if before.is_dir() and not record.has(_older(case), case.asked):
            judged = partial(older_outcome, before=before, draws=case.draws)
            record.found(_older(case), case.asked, made, judged)
        print(printed(_design(record, case)), flush=True)
    whole = [case for budget in head["budgets"] for case in _whole(record, head, budget)]
    if whole:
        _write(template, record, whole)


def _older(case: StudyCase) -> str:
    return f"{case.name}, before"


def _design(record: StudyRecord, case: StudyCase) -> ChainDesign:
    """What the record has of a case, an older release's design with it."""
    names = [case.name, *([_older(case)] if record.has(_older(case), case.asked) else [])]
    found = [record.get(name) for name in names]
    plant, _, budget = case.title.rpartition("-")
    rows = tuple(row for one in found for row in one["rows"])
    return ChainDesign(
        plant, budget, case.seed, rows, {key: told for one in found for key, told in one["rules"].items()}
    )


def _whole(record: StudyRecord, head: Mapping[str, Any], budget: str) -> list[StudyCase]:
    """The designs of a budget; none where one of them is missing."""
    every = cases({**head, "budgets": {budget: head["budgets"][budget]}})
    return every if all(record.has(case.name, case.asked) for case in every) else []


def _write(template: Template, record: StudyRecord, whole: Sequence[StudyCase]) -> None:
    designs = [_design(record, case) for case in whole]
    formats.write_csv(Path(template.head["table"]), COLUMNS, [row for one in designs for row in cells(one)])
    told = page(template, designs, record.commits(case.name for case in whole))
    atomic_files.write(Path(template.head["page"]), told)
    print(f"page: {template.head['page']}")
