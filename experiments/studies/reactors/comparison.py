"""The reactors' comparison: fixed gains, gain table and knowledge base, equally well tuned, on steps and smooth tasks.

    python -m experiments.studies.reactors.comparison    # three recipes and seeds; docs/studies/reactors.md
    python -m experiments.studies.reactors.comparison cstr_smooth       # one recipe, printed only
    python -m experiments.studies.reactors.comparison budget=standard   # other words go to `sscq design`

Designs are runs of `sscq design experiment=RECIPE` below runs/reactors: a finished one is not repeated, a stopped one
is gone on with. Prints a table for each recipe with its losses marked, and for the dimensionless reactor the published
values beside ours. With all recipes docs/studies/reactors.md is written; what the runs were made with stands in it. The
situations are declared in configs/reactor_study.yaml, whose hash is printed; others are refused.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.run_folder import read_record
from experiments.runtime.stages import digest_of
from experiments.studies.engine.declaration import Declared, entries_of, plain
from experiments.studies.engine.series import design_in
from experiments.studies.reactors import tables
from plants.core import atomic_files
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_CONFIGS = Path(configs.__file__).parent
DECLARED = _CONFIGS / "reactor_study.yaml"
_KINDS = ("taught", "validation", "unforeseen")


@dataclass(frozen=True)
class Declaration(Declared):
    """Situations that the comparison is judged in.

    Attributes
    ----------
    situations : mapping of recipe to str
        SHA-256 of what its situations say.
    """

    situations: Mapping[str, str]

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return self.told([
            f"The situations were declared on {self.declared} (configs/reactor_study.yaml, SHA-256 `{self.digest}`),",
            "before any design of this page was run. The rule:",
        ])  # fmt: skip


def declaration(path: Path = DECLARED, folder: Path = _CONFIGS / "situations") -> Declaration:
    """Read the declaration, and see that the recipes' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    given, own_digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest"})
    for recipe, digest in given["situations"].items():
        found = digest_of(plain(folder / f"{recipe}.yaml"))
        if found != digest:
            raise UserError(
                f"situations/{recipe}.yaml says something else than was declared on {given['declared']} (SHA-256 "
                f"{found}, declared {digest or 'none'}); put it back, or declare it anew in {path.name}"
            )
    return Declaration(**given | {"history": tuple(given["history"]), "digest": own_digest})


def require_declared(recipe: str, run: Path, folder: Path = _CONFIGS / "situations") -> None:
    """See that a run was made with the declared situations.

    Raises
    ------
    UserError
        If the run's situations say something else: it was made before they were declared, or with words that change
        them.
    """
    wanted, made = plain(folder / f"{recipe}.yaml"), read_record(run)["config"]["situations"]
    for kind in _KINDS:
        wrong = [name for name, given in wanted[kind].items() if not _says(made[kind].get(name), given)]
        wrong += [name for name in made[kind] if name not in wanted[kind]]
        if wrong:
            raise UserError(
                f"{run} was made with other {kind} situations than are declared ({', '.join(wrong)}); choose another "
                "folder=, or leave out the words that change them"
            )


def _says(made: Any, declared: Any) -> bool:
    """Whether a stored setting says all that is declared; what is not declared is at its default."""
    if not isinstance(declared, dict):
        return bool(made == declared)
    return isinstance(made, dict) and all(key in made and _says(made[key], value) for key, value in declared.items())


SEEDS = (0, 1, 2)
RECIPES = {
    "cstr_steps": "Jacketed reactor: hard steps, a limited actuator",
    "cstr_smooth": "Jacketed reactor: smooth references, drift and noise",
    "cstr_dimensionless": "Dimensionless reactor: steps between its published steady states",
}
_TAKEN = ("seed", "experiment", "output", "resume", "quiet")  # of a design; the study sets them
_PAGE = Path("docs/studies/reactors.md")


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
    lines = [f"## {RECIPES[recipe]}", "", *tables.ladder(folders, steps=recipe != "cstr_smooth"), ""]
    if recipe == "cstr_dimensionless":
        lines += [*tables.lines(folders), ""]
    return lines


def page(parts: Sequence[str], chosen: Options, declared: Declaration) -> str:
    """Return the whole page."""
    head = [
        "# The reactors' comparison",
        "",
        (
            f"Written by `python -m experiments.studies.reactors.comparison {' '.join(chosen.overrides)}`: "
            f"{len(chosen.seeds)} designs"
        ),
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
            atomic_files.write(_PAGE, page(lines, chosen, declared))
            print(f"written: {_PAGE}")


if __name__ == "__main__":
    main()
