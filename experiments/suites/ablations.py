"""What each part of the method is worth: finished designs with one part taken out, against the full method.

    python -m experiments.benchmark suite=ablations                                   # van_der_pol, three design seeds
    python -m experiments.benchmark suite=ablations plants=van_der_pol,cstr seeds=5 budget=standard
    python -m experiments.benchmark suite=ablations variants=pruning,table            # some of the variants

Every variant is designed at the full method's budget and judged by its fitness J in the same rollouts of unforeseen
situations; designs with several seeds are pooled. Also: how many evaluations the start from the teacher saves on the
way to equal J when taught, the teacher's own cost counted. Designs are runs of `sscq design` below runs/ablations, and
finished ones are not repeated. Writes ablations.json and ablations.md into the folder.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline import judged_rollouts, judging, search_results
from experiments.runtime import formats
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.tables import markdown_table, text_table
from experiments.suites import suite
from experiments.suites.variants import FULL, VARIANTS, Design, read, rollouts
from plants.core import atomic_files
from plants.core.names import unknown
from sscq.verdict.comparison import TRAVEL_SLACK, Comparison, Sample, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.suites.suite import SuiteOptions
    from sscq.search.history import GenerationHistory

TABLE_LIMIT = 0.005  # of the IAE: what a look-up table may change
RELEVANT = 0.005  # of J: a smaller change is none
_HEAD = ("variant", "mean J", "by design", "median", "worst 5 %", "travel", "new failures", "wins", "IAE", "the part")
_DEFAULTS = ("plants=van_der_pol", "folder=runs/ablations")


@dataclass(frozen=True)
class Start:
    """Evaluations until the search from the imitated rules and that from the reference gains reach the same J.

    The J is the worse one of what both reach (`reached`); the first number holds the teacher's cost.
    """

    fitness: float
    from_imitation: int
    from_reference: int
    teacher: int
    reached: tuple[float, float]


@dataclass(frozen=True)
class Result:
    """One plant: every variant against the full method, also design by design (change of mean J); mean IAE; starts."""

    plant: str
    comparisons: Mapping[str, Comparison]
    by_design: Mapping[str, tuple[float, ...]]
    error: Mapping[str, float]
    starts: tuple[Start, ...]


def ablate(plant: str, designs: Sequence[Design], variants: Sequence[str]) -> Result:
    """Make and judge the variants of finished designs of one plant."""
    full, parts = [], {name: [] for name in variants}  # type: tuple[list[np.ndarray], dict[str, list[np.ndarray]]]
    for design in designs:
        full.append(design.rollouts)
        for name in variants:
            parts[name].append(rollouts(design, VARIANTS[name][1](design)))
            print(f"{plant}: {VARIANTS[name][0]}", flush=True)
    base = _pooled(designs, full)
    comparisons = {name: compare(_pooled(designs, tables), base) for name, tables in parts.items()}
    by_design = {
        name: tuple(
            compare(_pooled([design], [one]), _pooled([design], [other])).mean.value
            for design, one, other in zip(designs, tables, full, strict=True)
        )
        for name, tables in parts.items()
    }
    error = {name: _error_change(tables, full) for name, tables in parts.items()}
    starts = [start for start in map(start_of, designs) if start is not None]
    return Result(plant, comparisons, by_design, error, tuple(starts))


def _pooled(designs: Sequence[Design], tables: Sequence[np.ndarray]) -> Sample:
    """Designs side by side: they share their rollouts, so a seed that is resampled takes them all with it."""
    fitness = [
        judged_rollouts.fitness_of(design.bench, design.ref.fitness, "unforeseen", table)
        for design, table in zip(designs, tables, strict=True)
    ]
    travel = [table[judged_rollouts.MEASURES.index("total_variation")] for table in tables]
    failed = [np.isfinite(table[0]) for table in tables]
    return Sample(np.hstack(fitness), np.hstack(travel), np.hstack(failed))


def _error_change(tables: Sequence[np.ndarray], full: Sequence[np.ndarray]) -> float:
    """Relative change of the mean IAE over the rollouts that both survive."""
    one, other = np.hstack(tables), np.hstack(full)
    alive = ~(np.isfinite(one[0]) | np.isfinite(other[0]))
    if not alive.any():
        return float("nan")
    place = judged_rollouts.MEASURES.index("iae")
    return float(one[place][alive].mean() / other[place][alive].mean() - 1.0)


def start_of(design: Design) -> Start | None:
    """Read from the refinement's histories what the start from the imitated rules is worth.

    Its searches of all rules start from the imitated rules and from the reference gains in turn, as many as
    `search.tries` says; None where that is one, which has nothing to be compared with.
    """
    tries = design.bench.setup.config.search.tries
    histories = [history for name, history in design.refined.entry.histories if _of_all_rules(name)]
    if tries < 2:
        return None
    n = len(histories) // tries  # methods of a search
    searches = [histories[n * k : n * (k + 1)] for k in range(tries)]
    by_imitation, by_reference = (course([h for one in searches[first::2] for h in one]) for first in (0, 1))
    target = max(by_imitation[1][-1], by_reference[1][-1])
    spent = [int(evaluations[np.argmax(best <= target)]) for evaluations, best in (by_imitation, by_reference)]
    teacher = judging.taught_loops(design.bench)
    reached = (float(by_imitation[1][-1]), float(by_reference[1][-1]))
    return Start(float(target), spent[0] + teacher, spent[1], teacher, reached)


def _of_all_rules(name: str) -> bool:
    """Whether a history is that of a search of all rules, not of one that came before it."""
    label, _ = search_results.parted(name)
    return not label or label.startswith("from")


def course(histories: Sequence[GenerationHistory]) -> tuple[np.ndarray, np.ndarray]:
    """Return evaluations spent and the best fitness so far of searches that were made one after the other."""
    spent, counts, best = 0, [], []
    for history in histories:
        counts.append(spent + np.asarray(history.evaluations))
        best.append(np.asarray(history.best, float))
        spent = int(counts[-1][-1])
    return np.concatenate(counts), np.minimum.accumulate(np.concatenate(best))


def rows(found: Result) -> list[tuple[str, ...]]:
    """Return the cells of one plant's table."""
    cells: list[tuple[str, ...]] = []
    for name, one in found.comparisons.items():
        designs = ", ".join(f"{100 * value:+.1f}" for value in found.by_design[name])
        error = f"{100 * found.error[name]:+.2f} %"
        if name == "table":
            error += " (within 0.5 %)" if abs(found.error[name]) <= TABLE_LIMIT else " (**beyond 0.5 %**)"
        cells.append(
            (VARIANTS[name][0], str(one.mean), designs, str(one.median), str(one.tail),
             f"{100 * one.travel.value:+.0f} %", str(one.new_failures), f"{100 * one.wins:.0f} %", error,
             worth(one, found.by_design[name]))
        )  # fmt: skip
    return cells


def worth(variant: Comparison, by_design: Sequence[float]) -> str:
    """Say of the part that a variant leaves out whether it helps; a part that costs is a loss of the method.

    A change counts from `RELEVANT` on, and where its interval is on one side; less J is no gain at more travel. The
    interval holds for the designs as they are: where these are of two minds, that is said.
    """
    if variant.new_failures:
        return "helps"
    if abs(variant.mean.value) < RELEVANT or variant.mean.low <= 0.0 <= variant.mean.high:
        return "no difference shown"
    if min(by_design) <= -RELEVANT and max(by_design) >= RELEVANT:
        return "depends on the design"
    if variant.mean.value > 0.0:
        return "helps"
    if variant.travel.value > TRAVEL_SLACK:
        return "keeps the travel"
    return "**costs: LOSS**"


def of_starts(found: Result) -> list[str]:
    """Say in plain words what the imitation is worth as a start."""
    if not found.starts:
        return ["What the start is worth is not known: with search.tries=1 no search starts from the reference gains."]
    lines = ["Evaluations to reach the same J when taught, the teacher's cost counted (what came before both is not):"]
    for seed, one in enumerate(found.starts):
        saved = one.from_reference - one.from_imitation
        word = f"saves {saved}" if saved > 0 else f"costs {-saved} more (LOSS)"
        lines.append(
            f"- design {seed}: J {one.fitness:.4g}; {one.from_imitation} from the imitation, of these {one.teacher} of "
            f"the teacher; {one.from_reference} from the reference gains: the start {word}. "
            f"In the end J {one.reached[0]:.4g} and {one.reached[1]:.4g}"
        )
    return lines


def page(found: Sequence[Result], chosen: SuiteOptions) -> str:
    """Return the whole result as Markdown."""
    lines = [
        "# What each part is worth", "",
        f"Written by `python -m experiments.benchmark suite=ablations`: {chosen.seeds} designs for each plant,",
        f"{' '.join(chosen.overrides)}. Each variant leaves one part out at the full method's budget; change of J in",
        "unforeseen situations against the full method (positive: worse without the part), all designs pooled, with",
        "95 % intervals from resampled seeds of the rollouts (the designs as they are; by design: percent of mean J).",
        "Changes below 0.5 % count as none, and less J is no gain at more than 5 % more travel. Wins: share of the",
        "rollouts in which the variant is better.",
    ]  # fmt: skip
    for one in found:
        lines += ["", f"## {one.plant}", "", *markdown_table(_HEAD, rows(one))]
        lines += ["", *of_starts(one)]
    return "\n".join(lines) + "\n"


def options(words: Sequence[str]) -> tuple[SuiteOptions, tuple[str, ...]]:
    """Read the command's words; those that are not its own are for the designs."""
    chosen = [word.partition("=")[2] for word in words if word.startswith("variants=")]
    variants = tuple(chosen[-1].split(",")) if chosen else tuple(VARIANTS)
    for name in variants:
        if name not in VARIANTS:
            raise UserError(unknown("variant", name, tuple(VARIANTS)))
    others = [word for word in words if not word.startswith("variants=")]
    return suite.options([*_DEFAULTS, *others]), variants


def main(words: Sequence[str]) -> None:
    """Run the suite, print a table for each plant as it is done, and write the whole."""
    with user_errors():
        chosen, variants = options(words)
        suite.run_side_by_side(chosen)
        found: list[Result] = []
        for name in chosen.plants:
            folders = [suite.run(name, seed, chosen) for seed in range(chosen.seeds)]
            found.append(ablate(name, [read(folder) for folder in folders], variants))
            print("\n".join(["", name, text_table(_HEAD, rows(found[-1])), *of_starts(found[-1])]), flush=True)
            data: list[Any] = [asdict(one) for one in found]
            formats.write_json(chosen.folder / "ablations.json", {"reference": FULL, "plants": data})
            atomic_files.write(chosen.folder / "ablations.md", page(found, chosen))
        print(f"\nwritten: {chosen.folder / 'ablations.md'}, ablations.json")
