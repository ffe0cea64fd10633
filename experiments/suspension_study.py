"""The car's comparison: passive dampers, sky-hook and its relatives, fixed PID and knowledge base, equally well tuned.

    python -m experiments.suspension_study                     # all designs, into runs/suspension, and the page
    python -m experiments.suspension_study together-0          # one design, its tables printed only
    python -m experiments.suspension_study folder=X budget.evaluations=2000    # other words go to `sscq design`

Designs are runs of `sscq design experiment=suspension_study`: a finished one is not repeated, a stopped one is gone on
with. Situations, fitness, aim and designs are declared in configs/suspension_study.yaml, whose hash is printed; other
situations are refused. Figures: `python -m benchmarks.suspension_figures`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments import suspension_parts
from experiments.comparison import study
from experiments.run_folder import read_record
from experiments.suspension_declaration import DECLARED, declaration
from experiments.suspension_families import at_equal_tyre_load, families
from experiments.suspension_tables import section
from experiments.suspension_timing import timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.comparison.declaration import Declaration
    from experiments.comparison.study import Options

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
        for plant, several in study.by_plant(folders, declared).items()
        for line in section(f"{_NAMES.get(plant, plant)} ({plant}; designs: {len(several)})", several, declared)
    ]


def page(parts: Sequence[str], declared: Declaration, chosen: Options) -> str:
    """Return the whole page."""
    words, first = " ".join(chosen.overrides), chosen.folder / chosen.designs[0]
    budget = read_record(first)["config"]["budget"]
    head = [
        "# The car's comparison", "",
        f"Written by `python -m experiments.suspension_study{' ' + words if words else ''}`.", "",
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
        "## What each part brings", "", *suspension_parts.lines(first), "",
        "## Figures", "", f"Written by `python -m benchmarks.suspension_figures {first}`.", "", *figures,
        "The car on its road, to be played: [animation.html](suspension/animation.html), a page of its own.", "",
        "## What a design costs", "", *timing(chosen.folder), "",
    ]  # fmt: skip
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    study.command(_COMMAND, arguments)


_COMMAND = study.Command(
    text=__doc__, file=DECLARED, declaration=declaration, folder="runs/suspension", experiment="suspension_study",
    page=Path("docs/suspension_study.md"), found=sections, told=lambda parts, declared: parts,  # noqa: ARG005
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
