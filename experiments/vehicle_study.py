"""The balancing vehicle's comparison: fixed gains, knowledge base, LQR; falls on slippery ground.

    python -m experiments.vehicle_study                      # all designs, into runs/vehicle, and the page
    python -m experiments.vehicle_study slippery-0           # one design, its tables printed only
    python -m experiments.vehicle_study folder=X budget.evaluations=2000     # other words go to `sscq design`

Designs are runs of `sscq design experiment=balancing_vehicle_study`: a finished one is not repeated, a stopped one is
gone on with. What is taught and drawn is declared in configs/balancing_vehicle_study.yaml, whose hash is printed; other
situations of the plants are refused. Figure: `python -m benchmarks.vehicle_study_figure`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments import vehicle_tables as tables
from experiments.comparison import study
from experiments.vehicle_bound import table
from experiments.vehicle_declaration import DECLARED, Declaration, declaration
from experiments.vehicle_verdict import Verdict, judged, robots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def page(verdicts: Sequence[Verdict], declared: Declaration, chosen: study.Options) -> str:
    """Return the whole page."""
    words, number = " ".join(chosen.overrides), sum(declared.drawn["kinds"].values())
    head = [
        "# The balancing vehicle's comparison", "",
        f"Written by `python -m experiments.vehicle_study{' ' + words if words else ''}`.", "",
        *tables.conclusion(verdicts), "", f"The aim, {100 * declared.aim:g} % fewer falls on slippery ground:", "",
        *tables.aim(verdicts, declared.aim), "",
        f"Drawn situations: {number} of {declared.drawn['horizon']:g} s, all with two commanded speeds and a turn,",
        f"simulated in steps of {1000 * declared.drawn['step']:g} ms. Error: integral of the errors of pitch, speed",
        "and yaw rate as measured, the speed by the encoders; true speed error: integral of the axle's; slip distance:",
        "path over which the wheels slid; entropy production: of all frictions, times T0. Effort and travel are of the",
        "commands: those of pitch and speed partly cancel in a PID, while LQR has one for both, so PIDs alone compare.",
        "Sensitivity is limited where there are PID gains, not for LQR.", "",
        *declared.lines(),
    ]  # fmt: skip
    parts = [line for verdict in verdicts for line in tables.section(verdict)]
    tail = [
        "## Taught on slippery ground against the fixed gains taught on dry ground", "", *tables.across(verdicts), "",
        "## What a schedule can do", "",
        "Two schedules over `slip_seen` found in trials before the situations above were drawn, judged in them",
        "afterwards, against the fixed PID of the first design. They are no contenders; they tell how much of what the",
        "signal allows the designs found. The first is of a search in the same taught situations, each channel with",
        "terms of its own begun at 0.05 and 0.5, and a lucky seed; the second was put together by hand.",
        "", *_bound(verdicts, declared, chosen), "",
        "## Figure", "", "Written by `python -m benchmarks.vehicle_study_figure`.", "",
        "![Path, slip, pitch and speed on a wet patch](balancing_vehicle/comparison.svg)", "",
        "*A wet patch under the left wheel: path from above, slip of the left wheel, pitch, speed; up to a fall.*", "",
        "## What a design costs", "",
        "All contenders together; 4 taught situations of 8 s in the dry designs, 52 in the others; a machine",
        "with two cores, which other work shared.", "",
        *study.costs(chosen, ("design, s", "LQR's search, s", "drawn situations, s"), _times), "",
    ]  # fmt: skip
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def _bound(verdicts: Sequence[Verdict], declared: Declaration, chosen: study.Options) -> list[str]:
    """Schedules found in trials against the fixed PID of the first design on slippery ground."""
    verdict = next(one for one in verdicts if one.design.startswith(tables.SLIPPERY))
    like = robots(chosen.folder / verdict.design, declared.drawn["step"])["fixed"]
    return table(like, verdict, declared)


def _times(seconds: Mapping[str, float]) -> list[str]:
    """Seconds of the design, of the search for LQR and of the drawn situations."""
    whole = sum(value for stage, value in seconds.items() if stage not in ("lqr", "drawn"))
    return [f"{value:.0f}" for value in (whole, seconds.get("lqr", 0.0), seconds.get("drawn", 0.0))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    study.command(_COMMAND, arguments)


_COMMAND = study.Command(
    text=__doc__, file=DECLARED, declaration=declaration, folder="runs/vehicle", experiment="balancing_vehicle_study",
    page=Path("docs/balancing_vehicle_study.md"),
    found=lambda folders, declared: [judged(folder, declared) for folder in folders.values()],
    told=lambda verdicts, declared: [line for one in verdicts for line in tables.section(one)],  # noqa: ARG005
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
