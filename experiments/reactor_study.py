"""The reactors' comparison: fixed gains, gain table and knowledge base, equally well tuned, on steps and smooth tasks.

    python -m experiments.reactor_study                           # three recipes, three design seeds; docs/reactors.md
    python -m experiments.reactor_study cstr_smooth               # one recipe, printed only
    python -m experiments.reactor_study budget=standard           # other words go to `sscq design`

Designs are runs of `sscq design experiment=RECIPE` below runs/reactors: a finished one is not repeated, a stopped one
is gone on with. Prints a table for each recipe with its losses marked, and for the dimensionless reactor the published
values beside ours. With all recipes docs/reactors.md is written; what the runs were made with stands in it. The
situations are declared in configs/reactor_study.yaml, whose hash is printed; others are refused.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import published_reactor, reactor_tables
from experiments.errors import UserError, user_errors
from experiments.reactor_declaration import DECLARED, Declaration, declaration, require_declared
from experiments.series import design_in
from plants.core import atomic
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

SEEDS = (0, 1, 2)
RECIPES = {
    "cstr_steps": "Jacketed reactor: hard steps, a limited actuator",
    "cstr_smooth": "Jacketed reactor: smooth references, drift and noise",
    "cstr_dimensionless": "Dimensionless reactor: steps between its published steady states",
}
_TAKEN = ("seed", "experiment", "output", "resume", "quiet")  # of a design; the study sets them
_PAGE = Path("docs/reactors.md")


@dataclass(frozen=True)
class Options:
    """What is run: recipes, the folder of the runs, the seeds of the designs, and words for `sscq design`."""

    recipes: tuple[str, ...]
    folder: Path
    seeds: tuple[int, ...]
    overrides: tuple[str, ...]


def options(words: Sequence[str]) -> Options:
    """Read the command's words.

    Raises
    ------
    UserError
        For an unknown recipe, a setting that the study sets itself, or no number of seeds.
    """
    recipes = tuple(word for word in words if "=" not in word)
    for name in recipes:
        if name not in RECIPES:
            raise UserError(unknown("recipe", name, tuple(RECIPES)))
    given = dict(word.split("=", 1) for word in words if "=" in word)
    for key in _TAKEN:
        if key in given:
            raise UserError(f"{key} is the study's own affair: name recipes, or say folder= or seeds=")
    folder, number = given.pop("folder", "runs/reactors"), given.pop("seeds", str(len(SEEDS)))
    if not number.isdecimal() or int(number) < 1:
        raise UserError(f"seeds must be a whole number of at least 1, got {number!r}")
    overrides = tuple(f"{key}={value}" for key, value in ({"budget": "small"} | given).items())
    return Options(recipes or tuple(RECIPES), Path(folder), tuple(range(int(number))), overrides)


def run(recipe: str, seed: int, chosen: Options) -> Path:
    """Run one design, or go on with it; return its folder.

    Raises
    ------
    UserError
        If the folder holds a design made with other words, or in other situations than are declared.
    """
    folder = chosen.folder / f"{recipe}-{seed}"
    if (folder / "config.json").is_file():
        require_declared(recipe, folder)
    design_in(folder, (f"experiment={recipe}", f"seed={seed}"), chosen.overrides)
    require_declared(recipe, folder)
    return folder


def section(recipe: str, folders: Sequence[Path]) -> list[str]:
    """Return one recipe's part of the page as Markdown lines."""
    lines = [f"## {RECIPES[recipe]}", "", *reactor_tables.ladder(folders, steps=recipe != "cstr_smooth"), ""]
    if recipe == "cstr_dimensionless":
        lines += [*published_reactor.lines(folders), ""]
    return lines


def page(parts: Sequence[str], chosen: Options, declared: Declaration) -> str:
    """Return the whole page."""
    head = [
        "# The reactors' comparison",
        "",
        f"Written by `python -m experiments.reactor_study {' '.join(chosen.overrides)}`: {len(chosen.seeds)} designs",
        "of each recipe, all controllers searched with the same budget and judged in the same rollouts. J: fitness.",
        "Changes are against the best fixed PID of the same design in all unforeseen rollouts of all designs, with",
        "95 % intervals from resampled seeds of the rollouts (the designs as they are); losses are marked. IAE,",
        "overshoot, settling time and travel are means over the surviving rollouts, taught / unforeseen; lost:",
        "unforeseen rollouts that left the plant's region. One of them costs hundreds of times what others do, so the",
        "change is also given over the situations that neither that controller nor the fixed PID loses. The first",
        "knowledge base is held to the fixed PID's actuator travel when taught. IAE counts in the channel's scale:",
        "6 K s for the jacketed reactor; times in seconds there, in residence times for the other one. The mean",
        "overshoot of the hard steps is large for the steps up to 360 K alone: there the reactor ignites, and the",
        "coolant at its limit catches it late. A knowledge base that is left with one rule is no schedule, but other",
        "fixed gains, which the search found inside the margins and at less travel (docs/decisions/0015).",
        "",
    ]
    return "\n".join([*head, *declared.lines(), *parts]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the recipes named (all by default), print their tables, and write the page if all were run."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(__doc__)
        return
    with user_errors():
        chosen, declared, lines = options(words), declaration(), []
        print(f"situations declared on {declared.declared} in configs/{DECLARED.name}, SHA-256 {declared.digest}")
        for recipe in chosen.recipes:
            part = section(recipe, [run(recipe, seed, chosen) for seed in chosen.seeds])
            print("\n".join(part), flush=True)
            lines += part
        if set(chosen.recipes) == set(RECIPES):
            atomic.write(_PAGE, page(lines, chosen, declared))
            print(f"written: {_PAGE}")


if __name__ == "__main__":
    main()
