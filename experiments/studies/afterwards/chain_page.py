"""The page of the chain: every rung on every plant, what was recommended, and whether each link is worth its place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.pipeline.judged_rollouts import LADDER
from experiments.runtime.tables import in_words, markdown_table, number, text_table
from experiments.studies.afterwards.fresh import change_of
from experiments.studies.engine.changes import percent
from sscq.verdict.verdict import NEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from experiments.studies.engine.template import Template
    from sscq.verdict.bootstrap import Change

    Row = Mapping[str, Any]

BEFORE, KB_BEFORE = "before", "knowledge_base_before"
"""Rungs of an older release: what it would have one use, and its knowledge base."""
MEASURES = ("J", "error", "entropy", "travel", "tail")
"""What changes are given of: fitness, its tracking error, entropy production difference, travel, worst 5 % of J."""
_MORE = ("new_failures", "failures", "sensitivity", "transient_sensitivity")
COLUMNS = (
    *("plant", "budget", "seed", "rung", "title", "recommended"),
    *(f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")),
    *_MORE,
)
"""Of the table of all rows."""
_TITLES = {"J": "J", "error": "IAE", "entropy": "entropy", "travel": "travel", "tail": "worst 5 %"}
_KB, _DIRECT, _IMITATION = "knowledge_base", "knowledge_base_direct", "imitation"


@dataclass(frozen=True)
class ChainDesign:
    """What became of one design.

    Attributes
    ----------
    plant, budget : str
    seed : int
    rows : tuple of mapping
        One for each rung but the fixed PID: "rung", "title", "recommended", changes of `MEASURES` against the fixed
        PID as mappings of "value", "low", "high", then failures, the largest Ms at rest and in passing, and
        "held_against", the reasons of the verdict against it, where the record has them.
    rules : mapping of rung to mapping
        Of each knowledge base, see `chain.rules_of`.
    """

    plant: str
    budget: str
    seed: int
    rows: tuple[Row, ...]
    rules: Mapping[str, Row]

    def row(self, rung: str) -> Row | None:
        """Return a rung's row, None where the design has no such rung."""
        return next((row for row in self.rows if row["rung"] == rung), None)

    def value(self, rung: str, measure: str = "J") -> float | None:
        """Return the change of a rung's measure, None where the design has no such rung."""
        row = self.row(rung)
        return None if row is None else _change(row, measure).value

    @property
    def recommended(self) -> Row | None:
        """The row of the recommended rung, None: the fixed gains."""
        return next((row for row in self.rows if row["recommended"]), None)

    @property
    def simplest(self) -> float:
        """The best change of J among the fixed gains, 0, and the rungs that are simpler than a knowledge base."""
        names = LADDER[: LADDER.index(_DIRECT)]
        return min([0.0, *(_change(row, "J").value for row in self.rows if row["rung"] in names)])


def _change(row: Row, measure: str) -> Change:
    return change_of(row[measure])


def printed(design: ChainDesign) -> str:
    """Return a design's rows as a table for the terminal; the recommended rung is marked."""
    head = (f"{design.plant} {design.budget} {design.seed}", *_TITLES.values(), "new failures")
    rows = [
        (
            row["rung"] + (" *" if row["recommended"] else ""),
            *(percent(_change(row, measure)) for measure in MEASURES),
            str(row["new_failures"]),
        )
        for row in design.rows
    ]
    return text_table(head, rows) + "\n"


def cells(design: ChainDesign) -> list[tuple[Any, ...]]:
    """Return a design's rows of the table of all rows."""
    return [
        (
            *(design.plant, design.budget, design.seed, row["rung"], row["title"], int(row["recommended"])),
            *(row[measure][end] for measure in MEASURES for end in ("value", "low", "high")),
            *(row[name] for name in _MORE),
        )
        for row in design.rows
    ]


def page(template: Template, designs: Sequence[ChainDesign], commits: str) -> str:
    """Return the whole page; `commits` says at which ones the designs were made."""
    budgets = dict.fromkeys(one.budget for one in designs)
    seeds = (f"{len({one.seed for one in designs if one.budget == budget})} with `{budget}`" for budget in budgets)
    sections = [_section(template, budget, [one for one in designs if one.budget == budget]) for budget in budgets]
    return template.page(
        {
            "draws": template.head["draws"],
            "seeds": ", ".join(seeds),
            "commits": commits,
            "words": " ".join(template.head["words"]),
            "table": template.head["table"].rpartition("/")[2],
            "sections": [line for section in sections for line in (*section, "")],
        },
        wrap=True,
    )


def _section(template: Template, budget: str, designs: Sequence[ChainDesign]) -> list[str]:
    older = [one for one in designs if one.row(BEFORE) is not None]
    unused = _unused(designs)
    lines = template.lines(
        "budget",
        {
            "budget": budget,
            **counts(designs),
            **{f"summary_of_{measure}": _summary(designs, measure) for measure in MEASURES},
            "recommended_rows": _recommended(designs),
            "rules": _rules(designs),
        },
        wrap=True,
    )
    if unused:
        lines += ["", *template.lines("unused", {"table": unused}, wrap=True)]
    if older:
        lines += ["", *template.lines("older", older_counts(older), wrap=True)]
    return lines


def counts(designs: Sequence[ChainDesign]) -> dict[str, int]:
    """Return in how many designs what is true: of the recommended rung, and of each link of the chain."""
    rows = [one.recommended for one in designs if one.recommended is not None]
    imitated = [one for one in designs if one.row(_IMITATION) is not None]
    direct = [one for one in designs if one.row(_DIRECT) is not None]
    return {
        "n": len(designs),
        "recommended": len(rows),
        "of_rules": sum(row["rung"].startswith(_KB) for row in rows),
        "worse_mean": sum(_change(row, "J").value > 0.0 for row in rows),
        "worse_error": sum(_change(row, "error").value > 0.0 for row in rows),
        "worse_tail": sum(_change(row, "tail").value > 0.0 for row in rows),
        "failing": sum(row["new_failures"] > 0 for row in rows),
        "above_simpler": sum(_lower(one.value(_KB), one.simplest) for one in designs),
        "above_imitation": sum(_lower(one.value(_KB), one.value(_IMITATION)) for one in imitated),
        "imitated": len(imitated),
        "above_direct": sum(_lower(one.value(_KB), one.value(_DIRECT)) for one in direct),
        "direct": len(direct),
    }


def _lower(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one < other


def _summary(designs: Sequence[ChainDesign], measure: str) -> list[str]:
    """Plants against rungs: the change of a measure, the mean of the seeds with their range."""
    rungs = list(dict.fromkeys(row["rung"] for one in designs for row in one.rows))
    plants = dict.fromkeys(one.plant for one in designs)
    rows = [
        [plant, *(_with_range(one.value(rung, measure) for one in designs if one.plant == plant) for rung in rungs)]
        for plant in plants
    ]
    return markdown_table(["plant", *map(in_words, rungs)], rows, numbers=True)


def _with_range(values: Iterable[float | None]) -> str:
    known = [100.0 * value for value in values if value is not None]
    if not known:
        return "-"
    spread = f" [{min(known):+.1f}, {max(known):+.1f}]" if len(known) > 1 else ""
    return f"{sum(known) / len(known):+.1f}{spread}"


def _recommended(designs: Sequence[ChainDesign]) -> list[str]:
    head = ("plant", "seed", "recommended", *_TITLES.values(), "new failures", "Ms at rest", "in passing")
    return markdown_table(head, [[one.plant, str(one.seed), *_of_recommended(one.recommended)] for one in designs])


def _of_recommended(row: Row | None) -> list[str]:
    if row is None:
        return ["fixed PID", *["-"] * (len(MEASURES) + 3)]
    changes = [_change(row, measure) for measure in MEASURES]
    return [
        row["title"],
        *(percent(one) + (" WORSE" if one.value > 0.0 else "") for one in changes),
        str(row["new_failures"]),
        *(number(math.nan if row[name] is None else row[name]) for name in ("sensitivity", "transient_sensitivity")),
    ]


def _unused(designs: Sequence[ChainDesign]) -> list[str]:
    """The knowledge bases of the designs that recommend none, and what the verdict held against each; else nothing."""
    rows = [
        [one.plant, str(one.seed), row["title"], percent(_change(row, "J")), *_against(row)]
        for one in designs
        if not (one.recommended or {"rung": "fixed"})["rung"].startswith(_KB)
        for row in one.rows
        if row["rung"] in (_DIRECT, _KB)
    ]
    return markdown_table(("plant", "seed", "not used", "J", "travel", "held against it"), rows) if rows else []


def _against(row: Row) -> tuple[str, str]:
    reasons = row.get("held_against")
    nothing = "not on record" if reasons is None else f"nothing: what is used is simpler, its J within {100 * NEAR:g} %"
    return percent(_change(row, "travel")), "; ".join(reasons or [nothing])


def _rules(designs: Sequence[ChainDesign]) -> list[str]:
    head = ("plant", "seed", "rules", "untrue sentences", "untrue words (L703)", "errors of lint", "told by two rules")
    rows = [[one.plant, str(one.seed), *_of_rules(one.rules[_KB])] for one in designs]
    return markdown_table(head, [*rows, ["all", "", *_of_rules(_all_rules(designs))]])


def _of_rules(told: Row) -> list[str]:
    untrue = f"{told['untrue_sentences']} ({100 * told['untrue_sentences'] / max(1, told['rules']):.0f} %)"
    by_two = told["told_by_two"]
    share = "-" if by_two is None else f"{100 * by_two:.1f} %"
    return [str(told["rules"]), untrue, str(told["untrue_words"]), str(told["errors"]), share]


def _all_rules(designs: Sequence[ChainDesign]) -> dict[str, Any]:
    """Sums over the designs; of what two rules tell, the mean."""
    told = [one.rules[_KB] for one in designs]
    shares = [one["told_by_two"] for one in told if one["told_by_two"] is not None]
    sums = {name: sum(one[name] for one in told) for name in told[0] if name != "told_by_two"}
    return {**sums, "told_by_two": sum(shares) / len(shares) if shares else None}


_COMPARED = ("J", "error", "travel", "tail")


def older_counts(designs: Sequence[ChainDesign]) -> dict[str, Any]:
    """Return the table of designs that an older release has made, too, and in how many of them today's are better."""
    rows, better = [], {BEFORE: 0, KB_BEFORE: 0}
    for one in designs:
        cells_of = []
        for rung, now in ((BEFORE, one.recommended), (KB_BEFORE, one.row(_KB))):
            older = one.row(rung)
            better[rung] += _lower(_value(now, "J"), _value(older, "J"))
            cells_of += [f"{_value(older, m):+.1f} → {_value(now, m):+.1f} %" for m in _COMPARED]
        titles = ["fixed PID" if row is None else row["title"] for row in (one.row(BEFORE), one.recommended)]
        rows.append([one.plant, str(one.seed), *titles, *cells_of])
    measures = [f"{who}: {_TITLES[measure]}" for who in ("used", "knowledge base") for measure in _COMPARED]
    pairs = {
        "used": [(one.row(BEFORE), one.recommended) for one in designs],
        "base": [(one.row(KB_BEFORE), one.row(_KB)) for one in designs],
    }
    return {
        **{
            f"{who}_{when}": f"{sum(_value(pair[i], 'J') for pair in several) / len(several):+.1f}"
            for who, several in pairs.items()
            for i, when in enumerate(("before", "today"))
        },
        "n": len(designs),
        "used": better[BEFORE],
        "bases": better[KB_BEFORE],
        "table": markdown_table(("plant", "seed", "used before", "used today", *measures), rows),
    }


def _value(row: Row | None, measure: str) -> float:
    """Change in per cent; without a row it is that of the fixed PID itself."""
    return 0.0 if row is None else 100.0 * _change(row, measure).value
