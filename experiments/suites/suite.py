"""What a suite of designs runs: plants, seeds, folder; and one design of it.

Read from the words of a command; those that are not the suite's own are for the designs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import plants
from configs import FOLDER
from experiments import design
from experiments.runtime.errors import USER_ERROR, UserError
from experiments.studies.engine.series import design_in
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SUITES = ("control_quality", "entropy", "ablations")
_TAKEN = ("seed", "plant", "output", "resume", "quiet")  # of a design; the benchmark sets them


@dataclass(frozen=True)
class SuiteOptions:
    """What is run.

    Attributes
    ----------
    plants : tuple of str
    seeds : int
        Designs of each plant, with the seeds 0, 1, ...
    folder : Path
    overrides : tuple of str
        Words for `sscq design`.
    launcher : tuple of str
        Words for Hydra about what runs designs side by side; none: one after another.
    """

    plants: tuple[str, ...]
    seeds: int
    folder: Path
    overrides: tuple[str, ...]
    launcher: tuple[str, ...] = ()


def options(words: Sequence[str]) -> SuiteOptions:
    """Read the command's words; those that are not its own are for the designs.

    Raises
    ------
    UserError
        For a word that is no setting, an unknown suite or plant, or no seeds.
    """
    own = {"suite": SUITES[0], "plants": "all", "seeds": "3", "folder": "runs/benchmark"}
    overrides = ["budget=small", "ladder.further=[all]"]
    launcher = tuple(word for word in words if word.startswith("hydra"))
    for word in [word for word in words if word not in launcher]:
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
    chosen = plants.names(tasks=True) if own["plants"] == "all" else own["plants"].split(",")
    chosen = [plants.find(name).name for name in chosen]  # raises with the near miss
    last = {word.partition("=")[0]: word for word in overrides}  # of two words for one setting the later one
    last |= _enough_seeds(last)
    return SuiteOptions(tuple(chosen), int(own["seeds"]), Path(own["folder"]), tuple(last.values()), launcher)


def _enough_seeds(words: Mapping[str, str]) -> dict[str, str]:
    """The word for the seeds that a comparison needs, where the budget has fewer and nothing else is asked for."""
    part = FOLDER / "budget" / f"{words['budget'].partition('=')[2]}.yaml"
    if "budget.verdict_seeds" in words or not part.is_file():  # an unknown budget is told by the design
        return {}
    seeds = yaml.safe_load(part.read_text(encoding="utf-8"))["budget"]["verdict_seeds"]
    return {"budget.verdict_seeds": f"budget.verdict_seeds={SEEDS}"} if seeds < SEEDS else {}


def run(plant: str, seed: int, chosen: SuiteOptions) -> Path:
    """Run one design, or go on with it; return its folder."""
    folder = chosen.folder / f"{plant}-{seed}"
    # Seeds are pooled here, each a design of its own.
    design_in(folder, (f"plant={plant}", f"seed={seed}", "seeds=1"), chosen.overrides)
    return folder


def run_side_by_side(chosen: SuiteOptions) -> None:
    """Run all designs at once as a sweep, where a launcher is named; what fails is told again when its turn comes."""
    if not chosen.launcher:
        return
    many = (f"plant={','.join(chosen.plants)}", f"seed={','.join(map(str, range(chosen.seeds)))}", "seeds=1")
    folders = (f"hydra.sweep.dir={chosen.folder}", "hydra.sweep.subdir=${plant}-${seed}")
    try:
        design.main(["-m", *many, *chosen.overrides, *chosen.launcher, *folders, "quiet=true"])
    except SystemExit as stop:
        if stop.code != USER_ERROR:
            raise


SEEDS, DESIGNS = 20, 3
"""Seeds of each situation, and designs of each plant, that a comparison asks for at least."""
