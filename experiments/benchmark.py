"""The benchmark of control quality: every plant's whole ladder and the tuning rules, in situations never taught.

    python -m experiments.benchmark                                   # all plants, three design seeds, budget=small
    python -m experiments.benchmark plants=fopdt,duffing seeds=5      # a part of it
    python -m experiments.benchmark budget=standard fitness.max_sensitivity=1.6    # other words go to `sscq design`
    python -m experiments.benchmark suite=entropy                     # entropy's own test (experiments.entropy_test)
    python -m experiments.benchmark suite=ablations                   # what each part is worth (experiments.ablations)

Designs are runs of `sscq design` below runs/benchmark: a finished one is not repeated, a stopped one is gone on with.
All controllers of a plant see the same rollouts, and its designs' rollouts are pooled; changes are against the best
fixed PID of the same design. Losses are marked. Writes benchmark.json and benchmark.md into the folder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import formats
from experiments.errors import UserError, user_errors
from experiments.series import design_in
from experiments.text_table import change, loss, text_table
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.pooled import Pooled

SUITES = ("control_quality", "entropy", "ablations")
OTHER_SUITES = {"suite=entropy": "experiments.entropy_test", "suite=ablations": "experiments.ablations"}
_TAKEN = ("seed", "plant", "output", "resume", "quiet")  # of a design; the benchmark sets them
_SIMPLE = frozenset({"two_degree", "table", "margin_table", "margin_table_fine", "hand_made", "hand_made_scaled"})
_HEAD = ("controller", "mean", "median", "worst 5 %", "travel", "new failures", "wins")


@dataclass(frozen=True)
class Options:
    """What is run.

    Attributes
    ----------
    plants : tuple of str
    seeds : int
        Designs of each plant, with the seeds 0, 1, ...
    folder : Path
    overrides : tuple of str
        Words for `sscq design`.
    """

    plants: tuple[str, ...]
    seeds: int
    folder: Path
    overrides: tuple[str, ...]


def options(words: Sequence[str]) -> Options:
    """Read the command's words; those that are not its own are for the designs.

    Raises
    ------
    UserError
        For a word that is no setting, an unknown suite or plant, or no seeds.
    """
    import plants
    from plants.core.naming import unknown

    own = {"suite": SUITES[0], "plants": "all", "seeds": "3", "folder": "runs/benchmark"}
    overrides = ["budget=small", "ladder.further=[all]"]
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"expected settings such as plants=fopdt or seeds=5, got {word!r}")
        if key in _TAKEN:
            raise UserError(f"{key} is the benchmark's own affair: say seeds=, plants= or folder=")
        if key in own:
            own[key] = value
        else:
            overrides.append(word)
    if own["suite"] not in SUITES:
        raise UserError(unknown("suite", own["suite"], SUITES))
    if not own["seeds"].isdecimal() or int(own["seeds"]) < 1:
        raise UserError(f"seeds must be a whole number of at least 1, got {own['seeds']!r}")
    chosen = plants.names() if own["plants"] == "all" else own["plants"].split(",")
    for name in chosen:
        plants.get(name)  # raises with the near miss
    last = {word.partition("=")[0]: word for word in overrides}  # of two words for one setting the later one
    return Options(tuple(chosen), int(own["seeds"]), Path(own["folder"]), tuple(last.values()))


def run(plant: str, seed: int, chosen: Options) -> Path:
    """Run one design, or go on with it; return its folder."""
    folder = chosen.folder / f"{plant}-{seed}"
    design_in(folder, (f"plant={plant}", f"seed={seed}"), chosen.overrides)
    return folder


def rows(pooled: Pooled) -> list[tuple[str, ...]]:
    """Return the cells of one plant's table, controllers as in the ladder; the baseline first."""
    found: list[tuple[str, ...]] = [(pooled.titles[pooled.baseline], *[""] * (len(_HEAD) - 1))]
    for name, comparison in pooled.comparisons.items():
        mean = f"{comparison.mean}{loss(comparison.mean.value)}"
        found.append(
            (pooled.titles[name], mean, f"{comparison.median}", f"{comparison.tail}",
             f"{100 * comparison.travel.value:+.0f} %", str(comparison.new_failures), f"{100 * comparison.wins:.0f} %")
        )  # fmt: skip
    return found


def page(found: Mapping[str, Pooled], chosen: Options) -> str:
    """Return the whole result as Markdown."""
    lines = [
        "# Benchmark of control quality", "",
        f"Written by `python -m experiments.benchmark`: {chosen.seeds} designs for each plant,",
        f"{' '.join(chosen.overrides)}. Fitness J in unforeseen situations, all rollouts of all designs, as change",
        "against the best fixed PID of the same design (negative is better), with 95 % intervals from resampled seeds",
        "of the rollouts, which all designs share (the designs as they are); losses are marked.", "",
        "| plant | knowledge base | best simple rung | recommended |", "|---|---|---|---|",
    ]  # fmt: skip
    for name, pooled in found.items():
        cells = (f"[{name}](#{name})", _of(pooled, "knowledge_base"), _simple(pooled), pooled.recommended())
        lines.append("| " + " | ".join(cells) + " |")
    for name, pooled in found.items():
        lines += ["", f"## {name}", "", "| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in rows(pooled)]
        lines += ["", *(f"- {text}" for text in pooled.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _of(pooled: Pooled, name: str) -> str:
    if name not in pooled.comparisons:
        return "-"
    value = pooled.comparisons[name].mean.value
    return change(1.0 + value, 1.0, "**loss**")


def _simple(pooled: Pooled) -> str:
    """The best of the rungs below the knowledge base."""
    simple = {n: c.mean.value for n, c in pooled.comparisons.items() if n in _SIMPLE}
    if not simple:
        return "-"
    best = min(simple, key=lambda name: simple[name])
    return f"{pooled.titles[best]}: {_of(pooled, best)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the suite, print a table for each plant as it is done, and write the whole."""
    from experiments.pooled import pool

    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(__doc__)
        return
    other = next((OTHER_SUITES[word] for word in words if word in OTHER_SUITES), None)
    if other is not None:
        import_module(other).main([word for word in words if word not in OTHER_SUITES])
        return
    with user_errors():
        chosen = options(words)
        found: dict[str, Pooled] = {}
        for name in chosen.plants:
            found[name] = pool([run(name, seed, chosen) for seed in range(chosen.seeds)])
            print("\n".join(["", name, text_table(_HEAD, rows(found[name])), *found[name].notes]), flush=True)
            data: dict[str, Any] = {plant: pooled.numbers() for plant, pooled in found.items()}
            formats.write_json(chosen.folder / "benchmark.json", data)  # a stopped suite keeps what it has
            atomic.write(chosen.folder / "benchmark.md", page(found, chosen))
        print(f"\nwritten: {chosen.folder / 'benchmark.md'}, benchmark.json")


if __name__ == "__main__":
    main()
