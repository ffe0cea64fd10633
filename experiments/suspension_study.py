"""The car's comparison: passive dampers, sky-hook and its relatives, fixed PID and knowledge base, equally well tuned.

    python -m experiments.suspension_study                     # all designs, into runs/suspension, and the page
    python -m experiments.suspension_study base-0              # one design, its tables printed only
    python -m experiments.suspension_study folder=X budget.evaluations=2000    # other words go to `sscq design`

Designs are runs of `sscq design experiment=suspension_study`: a finished one is not repeated, a stopped one is gone on
with. Situations, fitness, aim and designs are declared in configs/suspension_study.yaml, whose hash is printed; other
situations are refused. Figures: `python -m benchmarks.suspension_figures`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import suspension_tables as tables
from experiments.errors import UserError, user_errors
from experiments.series import design_in
from experiments.suspension_declaration import DECLARED, Declaration, declaration
from experiments.suspension_families import at_equal_tyre_load, families
from experiments.suspension_timing import timing
from plants.core import atomic
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

_TAKEN = ("seed", "plant", "experiment", "output", "resume", "quiet")  # of a design; the study sets them
_PAGE = Path("docs/suspension_study.md")
_FIGURES = (
    ("trade_off", "Comfort against road holding: the families of all contenders on the taught roads"),
    ("bump", "A bump: heave acceleration, front left tyre load and damper setting"),
    ("class_c", "Class C at 25 m/s, two seconds"),
    ("spectra", "Spectra of the heave acceleration, as it is and weighted"),
)


@dataclass(frozen=True)
class Options:
    """What is run: designs, the folder of the runs, and words for `sscq design`."""

    designs: tuple[str, ...]
    folder: Path
    overrides: tuple[str, ...]


def options(words: Sequence[str], declared: Declaration) -> Options:
    """Read the command's words.

    Raises
    ------
    UserError
        For an unknown design, or a setting that the study sets itself.
    """
    designs = tuple(word for word in words if "=" not in word)
    for name in designs:
        if name not in declared.designs:
            raise UserError(unknown("design", name, tuple(declared.designs)))
    given = dict(word.split("=", 1) for word in words if "=" in word)
    for key in given:
        if key in _TAKEN or key.partition(".")[0] == "situations":
            raise UserError(f"{key} is the study's own affair: name designs, or say folder=")
    folder = given.pop("folder", "runs/suspension")
    return Options(
        designs or tuple(declared.designs), Path(folder), tuple(f"{key}={value}" for key, value in given.items())
    )


def run(name: str, chosen: Options, declared: Declaration) -> Path:
    """Run one design, or go on with it; return its folder."""
    folder, design = chosen.folder / name, declared.designs[name]
    own = ("experiment=suspension_study", f"plant={design['plant']}", f"seed={design['seed']}")
    design_in(folder, own, chosen.overrides)
    return folder


def section(title: str, folders: Sequence[Path], declared: Declaration) -> list[str]:
    """Return what designs of one plant found as Markdown lines."""
    judged = tables.read(folders)
    best_of = declared.aim["best_of"]
    lines = [f"## {title}", "", *tables.conclusion(judged, declared.aim["share"], best_of), ""]
    lines += [*tables.verdict(judged), "", "The aim:", ""]
    lines += [*tables.aim(judged, declared.aim["share"], best_of), ""]
    for kind in ("taught", "unforeseen"):
        base = judged.best(best_of, kind)
        lines += [f"### {kind.capitalize()} situations", "", f"Changes are against {judged.titles[base]}.", ""]
        lines += [*tables.table(judged, kind, base), ""]
    base = judged.best(best_of, "unforeseen")
    lines += [f"### By situation, against {judged.titles[base]}", ""]
    return [*lines, *tables.by_situation(judged, ("fixed", "knowledge_base", "rival_modified_sky_hook"), base), ""]


def sections(folders: dict[str, Path], declared: Declaration) -> list[str]:
    """Return the parts of the page: one for each plant, whose designs are pooled."""
    by_plant: dict[str, list[Path]] = {}
    for name, folder in folders.items():
        by_plant.setdefault(declared.designs[name]["plant"], []).append(folder)
    lines: list[str] = []
    for plant, several in by_plant.items():
        based = plant.endswith("_base")
        title = "Settings beside a base" if based else "Settings as the source allocates them"
        lines += section(f"{title} ({plant}; designs: {len(several)})", several, declared)
    return lines


def page(parts: Sequence[str], declared: Declaration, chosen: Options) -> str:
    """Return the whole page."""
    words = " ".join(chosen.overrides)
    head = [
        "# The car's comparison", "",
        f"Written by `python -m experiments.suspension_study{' ' + words if words else ''}`.", "",
        "Weighted acceleration: heave by Wk, pitch and roll by We, joined as ISO 2631-1 joins the axes of a seat",
        "(1, 0.4 m, 0.63 m), at the reference point. Tyre-load variation: root mean square of the dynamic over the",
        "static load, mean of four. Stroke: travel of a strut from its nominal rest; beyond 0.08 m a car's stops would",
        "begin. Heat: of dampers and tyres over 10 s, T0 times the entropy they produce. Intervals hold 95 % of",
        "resampled seeds of the rollouts (the designs as they are); designs of one plant are averaged. Laws of the",
        "field are searched with the same evaluations, fitness, limits, sample time and sensors, and chosen by the",
        "same validation situations.",
        "", *declared.lines(),
    ]  # fmt: skip
    figures = [line for name, text in _FIGURES for line in (f"![{text}](suspension/{name}.svg)", "", f"*{text}.*", "")]
    based = next(name for name, one in declared.designs.items() if one["plant"].endswith("_base"))
    equal = at_equal_tyre_load(families(chosen.folder / based), declared.aim["best_of"])
    tail = [
        "## At equal tyre-load variation", "",
        "A fitness picks one point of each law's trade-off, not all the same one. So here is the lowest weighted",
        "acceleration that many settings of each law reach on the taught roads (declared seeds) at no more than a",
        "given tyre-load variation: shares of the tuned constants beside several settings of what is always there",
        "(base or least setting), as many of each, linear between them. In brackets the change against the best of",
        "sky-hook, ADD and their mix; then what the same settings do in the unforeseen situations.", "", *equal, "",
        "## Figures", "", "Written by `python -m benchmarks.suspension_figures` from the first design.", "", *figures,
        "The car on its road, to be played: [animation.html](suspension/animation.html), a page of its own.", "",
        "## What a design costs", "", *timing(chosen.folder), "",
    ]  # fmt: skip
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(__doc__)
        return
    with user_errors():
        declared = declaration()
        chosen = options(words, declared)
        print(f"declared on {declared.declared} in configs/{DECLARED.name}, SHA-256 {declared.digest}", flush=True)
        parts = sections({name: run(name, chosen, declared) for name in chosen.designs}, declared)
        print("\n".join(parts), flush=True)
        if set(chosen.designs) == set(declared.designs):
            atomic.write(_PAGE, page(parts, declared, chosen))
            print(f"written: {_PAGE}")


if __name__ == "__main__":
    main()
