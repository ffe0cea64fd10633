"""The car's comparison: passive dampers, sky-hook and its relatives, fixed PID and knowledge base, equally well tuned.

    python -m experiments.studies.suspension.comparison              # all designs, into runs/suspension, and the page
    python -m experiments.studies.suspension.comparison together-0   # one design, its tables printed only
    python -m experiments.studies.suspension.comparison folder=X budget.evaluations=2000  # others: `sscq design`

Designs are runs of `sscq design experiment=suspension_study`: a finished one is not repeated, a stopped one is gone on
with. Situations, fitness, aim and designs are declared in configs/suspension_study.yaml, whose hash is printed; other
situations are refused. Figures: `python -m benchmarks.vehicles.suspension.figures`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import configs
import plants
import sscq
from controllers import PID
from experiments.runtime.run_folder import read_record
from experiments.studies.engine import command
from experiments.studies.engine.declaration import Declaration, read
from experiments.studies.engine.series import kept
from experiments.studies.suspension import contributions
from experiments.studies.suspension.families import at_equal_tyre_load, families
from experiments.studies.suspension.tables import group_of, section
from sscq.fitness import Fitness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.studies.engine.command import Options


DECLARED = Path(configs.__file__).parent / "suspension_study.yaml"


def declaration(path: Path = DECLARED) -> Declaration:
    """Read the declaration, and see that the plants' situations are what it says."""
    return read(path)


POPULATION, GENERATIONS = 64, 40
_LIMIT = 300.0  # s: the aim, on two cores


def measured(population: int = POPULATION, generations: int = GENERATIONS) -> dict[str, float]:
    """Search the gains once and return what it took; kernels are compiled within the time."""
    plant = plants.get("suspension_unilateral_together")
    listed = [one for one in plant.situations["unforeseen"] if group_of("unforeseen", one["name"]) == "listed"]
    situations = tuple(sscq.Situation(**one) for one in listed)  # eight, of all kinds
    fitness = Fitness(error_weight=0.0, entropy_weight=0.0, own_measures={"ride_comfort": 1.0})
    genetic = sscq.GeneticAlgorithm(population=population, generations=generations, stall_generations=None)
    wall, cpu = time.perf_counter(), time.process_time()
    found = sscq.optimize(
        plant, PID(), situations, genetic, fitness=fitness, margins=False, teacher=False, step=0.001
    )  # fmt: skip
    return {
        "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "load": os.getloadavg()[0],
        "cores": os.cpu_count() or 1,
        "situations": len(situations), "population": population, "generations": generations,
        "heave_kd": float(np.asarray(found.gains)[2]),
    }  # fmt: skip


def timing(folder: Path) -> list[str]:
    """Return the sentence on the time as Markdown lines; measured once, then kept in the folder."""
    one = kept(folder / "timing.json", {"population": POPULATION, "generations": GENERATIONS}, measured)
    told = "within" if one["wall"] < _LIMIT else "not within"
    return [
        f"One search of the fifteen gains, population {one['population']:.0f}, {one['generations']:.0f} generations,",
        f"in {one['situations']:.0f} situations of 10 s at 1 ms took {one['wall']:.0f} s ({one['cpu']:.0f} s of",
        f"processor time) on a machine of {one['cores']:.0f} cores with a load of {one['load']:.1f} from other work:",
        f"{told} the five minutes asked for.",
    ]


_NAMES = {"suspension_unilateral_together": "Settings chosen together, loops over the struts"}
_FIGURES = (
    ("trade_off", "Comfort against road holding: the families of all contenders on the taught roads"),
    ("bump", "A bump: heave acceleration, front left tyre load and damper setting"),
    ("class_c", "Class C at 25 m/s, two seconds"),
    ("spectra", "Spectra of the heave acceleration, as it is and weighted"),
)


def sections(folders: dict[str, Path], declared: Declaration) -> list[str]:
    """Return the parts of the page: one for each plant, whose designs are pooled."""
    return [
        line
        for plant, several in command.by_plant(folders, declared).items()
        for line in section(f"{_NAMES.get(plant, plant)} ({plant}; designs: {len(several)})", several, declared)
    ]


def page(parts: Sequence[str], declared: Declaration, chosen: Options) -> str:
    """Return the whole page."""
    words, first = " ".join(chosen.overrides), chosen.folder / chosen.designs[0]
    budget = read_record(first)["config"]["budget"]
    head = [
        "# The car's comparison", "",
        f"Written by `python -m experiments.studies.suspension.comparison{' ' + words if words else ''}`.", "",
        "Weighted acceleration: heave by Wk, pitch and roll by We, joined as ISO 2631-1 joins the axes of a seat",
        "(1, 0.4 m, 0.63 m), at the reference point. Tyre-load variation: root mean square of the dynamic over the",
        "static load, mean of four. Stroke: travel of a strut from its nominal rest; beyond 0.08 m a car's stops would",
        "begin. Heat: of dampers and tyres over 10 s, T0 times the entropy they produce. Intervals hold 95 % of",
        "resampled seeds of the rollouts (the designs as they are); designs of one plant are averaged. Laws of the",
        "field are searched with the same fitness, limits, sample time and sensors. Each search has",
        f"{budget['evaluations']} evaluations; the fixed PID is the better of two, a law of the field has one for its",
        f"two or three constants. What they found is judged with {budget['verdict_seeds']} seeds.",
        "The limit of the tyre-load variation holds at the declared seeds of the taught roads. The fixed PID is what",
        "is best there; all others are chosen by the validation situations, where their limit is what the fixed PID",
        "has there. That made some laws of the field choose less, which costs the modified sky-hook most. So look at",
        "both measures, and at the comparison at equal tyre-load variation below, where nobody is chosen so. ADD and",
        "the mixed law estimate the body's acceleration from the struts' travel from the nominal rest and know no",
        "load, while a loaded car's PIDs are asked to hold its rest.",
        "", *declared.lines(),
    ]  # fmt: skip
    figures = [line for name, text in _FIGURES for line in (f"![{text}](suspension/{name}.svg)", "", f"*{text}.*", "")]
    equal = at_equal_tyre_load(families(first), declared.aim.best_of)
    tail = [
        "## At equal tyre-load variation", "",
        "A fitness picks one point of each law's trade-off, not all the same one. So here is the lowest weighted",
        "acceleration that many settings of each law reach on the taught roads (declared seeds) at no more than a",
        "given tyre-load variation: shares of the tuned constants beside several settings of what is always there",
        "(base or least setting), as many of each, linear between them. In brackets the change against the best of",
        "sky-hook, ADD and their mix; then what the same settings do in the unforeseen situations.", "", *equal, "",
        "## What each part brings", "", *contributions.lines(first), "",
        "## Figures", "", f"Written by `python -m benchmarks.vehicles.suspension.figures {first}`.", "", *figures,
        "The car on its road, to be played: [animation.html](suspension/animation.html), a page of its own.", "",
        "## What a design costs", "", *timing(chosen.folder), "",
    ]  # fmt: skip
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    command.command(_COMMAND, arguments)


_COMMAND = command.Command(
    text=__doc__, file=DECLARED, declaration=declaration, folder="runs/suspension", experiment="suspension_study",
    page=Path("docs/studies/suspension.md"), found=sections, told=lambda parts, declared: parts,  # noqa: ARG005
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
