"""The benchmark of control quality: every plant's whole ladder and six tuning rules, taught and unforeseen.

    python -m experiments.benchmark                                 # all plants, three design seeds, budget=small
    python -m experiments.benchmark plants=fopdt,duffing seeds=5    # a part of it
    python -m experiments.benchmark budget=standard fitness.max_sensitivity=1.6    # other words go to `sscq design`
    python -m experiments.benchmark hydra/launcher=joblib hydra.launcher.n_jobs=4  # side by side, or on a cluster
    python -m experiments.benchmark suite=entropy      # entropy's own test (experiments.studies.entropy.command)
    python -m experiments.benchmark suite=ablations    # what each part is worth (experiments.suites.ablations)

Designs are runs of `sscq design` below runs/benchmark: a finished one is not repeated, a stopped one is gone on with.
All controllers of a plant see the same rollouts, and its designs' rollouts are pooled; changes are against the best
fixed PID of the same design. Losses are marked. Writes benchmark.json, benchmark.md and overview.md into the folder.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import USER_ERROR, UserError, user_errors
from experiments.runtime.tables import text_table
from experiments.suites.benchmark_page import HEAD, overview, page, rows
from experiments.suites.suite import options, run, run_side_by_side
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from experiments.studies.engine.pooling import Pooled


OTHER_SUITES = {
    "suite=entropy": "experiments.studies.entropy.command",
    "suite=ablations": "experiments.suites.ablations",
}
_COMPARISON = ("budget.repeat_taught=true",)  # what this suite asks of its designs beside what all suites do


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the suite, print a table for each plant as it is done, and write the whole."""
    from experiments.studies.engine.pooling import pool

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
        run_side_by_side(chosen)
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
            atomic_files.write(chosen.folder / "benchmark.md", page(found, chosen))
            atomic_files.write(chosen.folder / "overview.md", overview(found, chosen))
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
