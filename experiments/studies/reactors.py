"""The reactors' comparison: fixed gains, gain table and knowledge base, equally well tuned, on steps and smooth tasks.

    python -m experiments.studies reactors                   # three recipes and seeds, and the page
    python -m experiments.studies reactors cstr_smooth       # one recipe, printed only
    python -m experiments.studies reactors budget=standard   # seeds=, folder=; other words go to `sscq design`

Designs are runs of `sscq design experiment=RECIPE`: a finished one is not repeated, a stopped one is gone on with. The
situations of the recipes are declared, others are refused. Losses are marked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import configs
import plants
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from experiments.runtime.stages import digest_of
from experiments.runtime.tables import loss, markdown_table, number
from experiments.studies.engine.changes import percent
from experiments.studies.engine.comparison import sentences
from experiments.studies.engine.declaration import FOLDER, Declaration, entries_of, plain
from experiments.studies.engine.pooling import DECIDING, ROWS, pool, title_of
from experiments.studies.engine.series import design_in
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from plants.core.analysis.equilibrium import Equilibria
from plants.core.names import unknown
from sscq.verdict.comparison import Sample, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.studies.engine.pooling import Pooled
    from sscq.verdict.comparison import Comparison

TEMPLATE = Template.of("reactors")
DECLARED = FOLDER / TEMPLATE.head["declared"]
RECIPES: dict[str, str] = TEMPLATE.head["recipes"]
_SITUATIONS = configs.FOLDER / "situations"
_SEEDS = 3
_TAKEN = ("seed", "experiment", "output", "resume", "quiet")  # of a design; the study sets them
_KINDS = ("taught", "validation", "unforeseen")
_STILL = ("cstr_steps", "cstr_dimensionless")  # references that stand still: overshoot and settling mean something


# --------------------------------------------------------------------------------------------------------- declaration


def declaration(path: Path = DECLARED, folder: Path = _SITUATIONS) -> Declaration:
    """Read the declaration, and see that the recipes' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    given, own_digest = entries_of(path, ("declared", "rule", "history", "situations"))
    for recipe, digest in given["situations"].items():
        found = digest_of(plain(folder / f"{recipe}.yaml"))
        if found != digest:
            raise UserError(
                f"situations/{recipe}.yaml says something else than was declared on {given['declared']} (SHA-256 "
                f"{found}, declared {digest or 'none'}); put it back, or declare it anew in {path.name}"
            )
    return Declaration(
        path.name, own_digest, given["declared"], given["rule"], tuple(given["history"]), given["situations"], {}, {}
    )  # fmt: skip


def require_declared(recipe: str, run: Path, folder: Path = _SITUATIONS) -> None:
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


# ------------------------------------------------------------------------------------------------------------- designs


@dataclass(frozen=True)
class ReactorOptions:
    """What is run: recipes, the folder of the runs, the seeds of the designs, and words for `sscq design`."""

    recipes: tuple[str, ...]
    folder: Path
    seeds: tuple[int, ...]
    overrides: tuple[str, ...]


def options(words: Sequence[str]) -> ReactorOptions:
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
    folder, seeds = given.pop("folder", TEMPLATE.head["folder"]), given.pop("seeds", str(_SEEDS))
    if not seeds.isdecimal() or int(seeds) < 1:
        raise UserError(f"seeds must be a whole number of at least 1, got {seeds!r}")
    overrides = tuple(f"{key}={value}" for key, value in ({"budget": "small"} | given).items())
    return ReactorOptions(recipes or tuple(RECIPES), Path(folder), tuple(range(int(seeds))), overrides)


def run(recipe: str, seed: int, chosen: ReactorOptions) -> Path:
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


# -------------------------------------------------------------------------------------------------------------- tables

_HEAD = ("controller", "J taught", "J unforeseen", "change of the mean", "worst 5 %", "where neither is lost", "IAE",
         "overshoot", "settling", "travel", "lost")  # fmt: skip


def ladder(folders: Sequence[Path], *, steps: bool) -> list[str]:
    """Return the table of one task's designs and their verdicts as Markdown lines.

    Parameters
    ----------
    folders : sequence of Path
        Of finished runs of `sscq design` that see the same rollouts.
    steps : bool
        Whether overshoot and settling mean anything: references that stand still.
    """
    pooled = pool(folders)
    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    rows = []
    for name in ROWS:
        several = [one["controllers"][name] for one in metrics if name in one["controllers"]]
        if len(several) == len(metrics):
            cells = _cells(several, pooled.comparisons.get(name), _alive(pooled, name), steps=steps)
            rows.append((title_of(name, metrics), *cells))
    return [*markdown_table(_HEAD, rows), "", *sentences(metrics), f"- Recommended: {pooled.recommended()}."]


def _alive(pooled: Pooled, name: str) -> str:
    """Change of the mean in the situations that neither a controller nor the fixed PID loses with any seed.

    A lost rollout costs hundreds of times what a surviving one does, so beside one no other difference is seen. Empty
    where nothing is lost.
    """
    judged = pooled.kinds[DECIDING]
    if name not in judged.comparisons:
        return ""
    one, base = judged.samples[name], judged.samples[pooled.baseline]
    alive = ~(one.failed | base.failed).any(axis=0)
    if alive.all():
        return ""
    if not alive.any():
        return "-"
    left, right = (Sample(s.fitness[:, alive], s.travel[:, alive], s.failed[:, alive]) for s in (one, base))
    change = compare(left, right).mean
    return percent(change) + loss(change.value, "**loss**")


def _cells(
    several: Sequence[dict[str, Any]], compared: Comparison | None, alive: str, *, steps: bool
) -> tuple[str, ...]:
    taught, unforeseen = (float(np.mean([one["fitness"][kind] for one in several])) for kind in (_KINDS[0], _KINDS[2]))
    lost = sum(one["failures"]["unforeseen"] for one in several)
    change = tail = ""
    if compared is not None:
        change = percent(compared.mean) + loss(compared.mean.value, "**loss**")
        tail = f"{100 * compared.tail.value:+.1f} %"
    return (
        number(taught), number(unforeseen), change, tail, alive, _both(several, "iae"),
        _both(several, "overshoot", 100.0, " %") if steps else "-", _both(several, "settling_time") if steps else "-",
        _both(several, "total_variation"), str(lost),
    )  # fmt: skip


def _both(several: Sequence[dict[str, Any]], measure: str, factor: float = 1.0, unit: str = "") -> str:
    """A measure's mean over the designs, taught and unforeseen; a design that lost every loop has none."""
    found = []
    for kind in (_KINDS[0], _KINDS[2]):
        values = [value for one in several if (value := one["measures"][kind][measure]) is not None]
        known = [float(value) for value in values if not math.isnan(float(value))]
        found.append(f"{factor * np.mean(known):.3g}{unit}" if known else "-")
    return " / ".join(found)


LIMITS = (3.0, 4.0, 6.0)
STEPS = {"cold to middle": (0.886, 2.752), "hot to middle": (4.705, 2.752), "middle to hot": (2.752, 4.705)}
_HORIZON, _STEP = 10.0, 0.002


def full_coolant(start: float, goal: float, limit: float) -> tuple[float, float]:
    """Return when the coolant held at its limit brings the temperature to the goal, and the IAE up to then.

    Parameters
    ----------
    start, goal : float
        Dimensionless temperatures; it starts at rest.
    limit : float
        Coolant either way, dimensionless.

    Returns
    -------
    time, iae : float
        In residence times; infinite where the goal is not reached.
    """
    plant = plants.get("cstr_dimensionless")
    coolant = limit if goal > start else -limit
    run = plants.simulate(plant, _HORIZON, _STEP, initial=tuple(Equilibria(plant).at([start]).state), inputs=(coolant,))
    away = (goal - run["temperature"]) / (goal - start)
    there = np.flatnonzero(away <= 0.0)
    if not there.size:
        return np.inf, np.inf
    error = np.abs(goal - run["temperature"][: there[0]])
    return float(run.time[there[0]]), float(_STEP * error.sum())


def full_coolant_table() -> list[str]:
    """Return the times and IAE of :func:`full_coolant` for the dimensionless reactor's steps as Markdown lines."""
    rows = []
    for name, (start, goal) in STEPS.items():
        found = (full_coolant(start, goal, limit) for limit in LIMITS)
        rows.append([f"{name}, {start:g} to {goal:g}", *(f"{time:.2f}; {iae:.2f}" for time, iae in found)])
    return markdown_table(["step", *(f"coolant within {limit:g}" for limit in LIMITS)], rows)


def section(recipe: str, folders: Sequence[Path]) -> list[str]:
    """Return one recipe's part of the page as Markdown lines."""
    found = ladder(folders, steps=recipe in _STILL)
    lines = [*TEMPLATE.lines("recipe", {"title": RECIPES[recipe], "ladder": found}), ""]
    if recipe == "cstr_dimensionless":
        lines += [*TEMPLATE.lines("coolant", {"floor": full_coolant_table()}), ""]
    return lines


def page(parts: Sequence[str], chosen: ReactorOptions, declared: Declaration) -> str:
    """Return the whole page."""
    return TEMPLATE.page({
        "command": " ".join(["python -m experiments.studies reactors", *chosen.overrides]),
        "designs": len(chosen.seeds), "declared": declared, "declaration": declared.lines(), "sections": list(parts),
    })  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Run the recipes named (all by default), print their tables, and write the page if all were run."""
    chosen, declared, lines = options(words), declaration(), []
    print(f"situations declared on {declared.declared} in {DECLARED.name}, SHA-256 {declared.digest}")
    for recipe in chosen.recipes:
        part = section(recipe, [run(recipe, seed, chosen) for seed in chosen.seeds])
        print("\n".join(part), flush=True)
        lines += part
    if set(chosen.recipes) == set(RECIPES):
        atomic_files.write(Path(TEMPLATE.head["page"]), page(lines, chosen, declared))
        print(f"written: {TEMPLATE.head['page']}")
