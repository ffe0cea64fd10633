"""The benchmark of control quality: every plant's whole ladder and six tuning rules, taught and unforeseen.

    python -m experiments.benchmark                                   # all plants, three design seeds, budget=small
    python -m experiments.benchmark plants=fopdt,duffing seeds=5      # a part of it
    python -m experiments.benchmark budget=standard fitness.max_sensitivity=1.6    # other words go to `sscq design`
    python -m experiments.benchmark suite=entropy                     # entropy's own test (experiments.entropy_test)
    python -m experiments.benchmark suite=ablations                   # what each part is worth (experiments.ablations)

Designs are runs of `sscq design` below runs/benchmark: a finished one is not repeated, a stopped one is gone on with.
All controllers of a plant see the same rollouts, and its designs' rollouts are pooled; changes are against the best
fixed PID of the same design. Losses are marked. Writes benchmark.json, benchmark.md and overview.md into the folder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from configs import FOLDER
from experiments import formats
from experiments.benchmark_page import HEAD, SEEDS, overview, page, rows
from experiments.errors import USER_ERROR, UserError, user_errors
from experiments.series import design_in
from experiments.text_table import text_table
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from experiments.pooled_result import Pooled

SUITES = ("control_quality", "entropy", "ablations")
OTHER_SUITES = {"suite=entropy": "experiments.entropy_test", "suite=ablations": "experiments.ablations"}
_TAKEN = ("seed", "plant", "output", "resume", "quiet")  # of a design; the benchmark sets them
_COMPARISON = ("budget.repeat_taught=true",)  # what this suite asks of its designs beside what all suites do


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
    last |= _enough_seeds(last)
    return Options(tuple(chosen), int(own["seeds"]), Path(own["folder"]), tuple(last.values()))


def _enough_seeds(words: Mapping[str, str]) -> dict[str, str]:
    """The word for the seeds that a comparison needs, where the budget has fewer and nothing else is asked for."""
    part = FOLDER / "budget" / f"{words['budget'].partition('=')[2]}.yaml"
    if "budget.verdict_seeds" in words or not part.is_file():  # an unknown budget is told by the design
        return {}
    seeds = yaml.safe_load(part.read_text(encoding="utf-8"))["verdict_seeds"]
    return {"budget.verdict_seeds": f"budget.verdict_seeds={SEEDS}"} if seeds < SEEDS else {}


def run(plant: str, seed: int, chosen: Options) -> Path:
    """Run one design, or go on with it; return its folder."""
    folder = chosen.folder / f"{plant}-{seed}"
    design_in(folder, (f"plant={plant}", f"seed={seed}"), chosen.overrides)
    return folder


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
        chosen = options([*_COMPARISON, *words])
        found: dict[str, Pooled] = {}
        failed: list[str] = []
        for name in chosen.plants:
            try:
                folders = [run(name, seed, chosen) for seed in range(chosen.seeds)]
            except SystemExit as stop:  # a design has told what is wrong; the other plants do not wait for it
                if stop.code != USER_ERROR:
                    raise
                failed.append(name)
                continue
            found[name] = pool(folders)
            print("\n".join(_told(found[name])), flush=True)
            data: dict[str, Any] = {plant: pooled.numbers() for plant, pooled in found.items()}
            formats.write_json(chosen.folder / "benchmark.json", data)  # a stopped suite keeps what it has
            atomic.write(chosen.folder / "benchmark.md", page(found, chosen))
            atomic.write(chosen.folder / "overview.md", overview(found, chosen))
        if found:
            print(f"\nwritten: {chosen.folder / 'benchmark.md'}, overview.md, benchmark.json")
        if failed:
            raise UserError(f"no result of {', '.join(failed)}: a design of it ended with the error above")


def _told(pooled: Pooled) -> Iterator[str]:
    """One plant in print."""
    for kind in pooled.kinds:
        yield from ("", f"{pooled.plant}, {kind} situations", text_table(HEAD, rows(pooled, kind)))
    yield from pooled.notes


if __name__ == "__main__":
    main()
