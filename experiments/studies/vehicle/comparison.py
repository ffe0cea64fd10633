"""The balancing vehicle's comparison: fixed gains, knowledge base, LQR; falls on slippery ground.

    python -m experiments.studies.vehicle.comparison                      # all designs, into runs/vehicle, and the page
    python -m experiments.studies.vehicle.comparison slippery-0           # one design, its tables printed only
    python -m experiments.studies.vehicle.comparison folder=X budget.evaluations=2000  # other words go to `sscq design`

Designs are runs of `sscq design experiment=balancing_vehicle_study`: a finished one is not repeated, a stopped one is
gone on with. What is taught and drawn is declared in configs/balancing_vehicle_study.yaml, whose hash is printed;
other situations of the plants are refused. Figure: `python -m benchmarks.vehicles.balancing_vehicle.figure`.
Beside the contenders two schedules over `slip_seen` are judged, found in trials before the declared situations were
drawn. They tell whether a missed aim lies in the controller or in its search.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.studies.engine import command
from experiments.studies.engine.outcomes import BASE, difference, fall_ratio, lines_of, quality, survival, wilson
from experiments.studies.vehicle.declaration import DECLARED, Declaration, declaration, kind_of, slippery
from experiments.studies.vehicle.verdict import Verdict, judged, robots, when_taught
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.studies.engine.contenders import Contender


_WORDS = {
    "iae": "error", "speed_error": "true speed error, m", "slip_distance": "slip distance, m",
    "entropy_plant": "entropy production, J",
    "effort": "effort, (N m)² s",
    "total_variation": "travel, N m",
}  # fmt: skip
DRY, SLIPPERY = "dry", "slippery"
_KB = "knowledge_base"


def section(verdict: Verdict) -> list[str]:
    """Return what one design found as Markdown lines."""
    lines = [f"## {verdict.design}", "", *kept(verdict), "", "Falls by kind of situation:", "", *by_kind(verdict), ""]
    for words, chosen in (("slippery ground", verdict.on_slippery), ("all other situations", ~verdict.on_slippery)):
        stood, values = verdict.where(chosen)
        lines += [
            f"### On {words}" if "ground" in words else f"### In {words}",
            "",
            *survival(stood, verdict.titles),
            "",
        ]
        lines += [*quality(values, stood, verdict.titles, _WORDS), ""]
    return lines


def kept(verdict: Verdict) -> list[str]:
    """Return falls on slippery ground beside the error on dry ground when taught, and the limit that held for it."""
    base, limit = verdict.dry[BASE], verdict.limit
    rows = []
    for name, stood in verdict.stood.items():
        falls, dry = int((~stood[verdict.on_slippery]).sum()), verdict.dry[name]
        told = "" if limit is None else f"{100 * (dry / limit - 1):+.1f} %"
        rows.append([verdict.titles[name], str(falls), f"{dry:.3f}", f"{100 * (dry / base - 1):+.1f} %", told])
    words = "none" if limit is None else f"{limit:g}"
    return [
        f"Falls on slippery ground, and the mean error on dry ground when taught; its limit: {words}.", "",
        *lines_of(("controller", "falls", "dry error", "against the fixed PID", "against the limit"), rows),
    ]  # fmt: skip


def by_kind(verdict: Verdict) -> list[str]:
    """Return the falls in each kind of situation."""
    kinds = np.array(verdict.kinds)
    known = list(dict.fromkeys(verdict.kinds))
    rows = [
        [verdict.titles[name], *(f"{int((~stood[kinds == kind]).sum())}" for kind in known)]
        for name, stood in verdict.stood.items()
    ]
    return lines_of(
        ("controller", *(f"{kind.replace('_', ' ')} ({int((kinds == kind).sum())})" for kind in known)), rows
    )


def aim(verdicts: Sequence[Verdict], share: float) -> list[str]:
    """Return what became of the aim: a sentence for each design and knowledge base."""
    lines = []
    for verdict in verdicts:
        stood, _ = verdict.where(verdict.on_slippery)
        for name in (one for one in stood if one.startswith(_KB)):
            value, low, high = fall_ratio(stood[name], stood[BASE])
            falls, others = (int((~stood[one]).sum()) for one in (name, BASE))
            lines.append(
                f"- {verdict.design}, {verdict.titles[name]}: **{_outcome(value, high, share)}** ({falls} falls, "
                f"{_change(value, low, high)} against {others} of the fixed PID taught the same)"
            )
    return lines


def _outcome(value: float, high: float, share: float) -> str:
    if high <= 1.0 - share:
        return "met"
    return "met on the mean, not reliably" if value <= 1.0 - share else "not met"


def _change(value: float, low: float, high: float) -> str:
    return f"{100 * (value - 1):+.0f} % [{100 * (low - 1):+.0f}, {100 * (high - 1):+.0f}]"


def pairs(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, Verdict]]:
    """Return designs taught on slippery ground, each with the one of the same number taught on dry ground."""
    found = {one.design: one for one in verdicts}
    names = [name for name in found if name.startswith(SLIPPERY)]
    return [(found[name], found[name.replace(SLIPPERY, DRY)]) for name in names if name.replace(SLIPPERY, DRY) in found]


def across(verdicts: Sequence[Verdict]) -> list[str]:
    """Return contenders taught on slippery ground against fixed gains that were not: falls there, error elsewhere."""
    rows = []
    for taught, dry in pairs(verdicts):
        chosen = taught.on_slippery
        base = dry.stood[BASE]
        for name, stood in taught.stood.items():
            falls = fall_ratio(stood[chosen], base[chosen])
            low, high = wilson(int((~stood[chosen]).sum()), int(chosen.sum()))
            both = ~chosen & stood & base
            error = taught.quality[name]["iae"][both].mean() / dry.quality[BASE]["iae"][both].mean()
            rows.append(
                [taught.design, taught.titles[name], f"{int((~stood[chosen]).sum())}",
                 f"{100 * low:.1f} to {100 * high:.1f} %", f"{int((~base[chosen]).sum())}", _change(*falls),
                 difference(stood[chosen], base[chosen]), f"{100 * (error - 1):+.1f} %"]
            )  # fmt: skip
    head = ("design", "controller", "falls on slippery ground", "share, Wilson interval",
            "of the fixed PID taught on dry ground", "change", "difference of standing, points",
            "error elsewhere against it")  # fmt: skip
    return lines_of(head, rows)


def conclusion(verdicts: Sequence[Verdict]) -> list[str]:
    """Return whom to use, from the mean over the designs of each kind."""
    told = []
    for kind, ground in ((DRY, "Taught on dry ground alone"), (SLIPPERY, "Taught on slippery ground as well")):
        designs = [one for one in verdicts if one.design.startswith(kind)]
        if designs:
            told += [f"**{ground}: {_best(designs)}**", ""]
    return told[:-1]


_EQUAL = 0.01  # share of situations in which falls count as equal
_ORDER = (BASE, "two_degree", "lqr", _KB, "knowledge_base_free")


def _best(designs: Sequence[Verdict]) -> str:
    """Falls first; among those within a point of the fewest the simplest within 3 % of the least error."""
    names = [name for name in _ORDER if all(name in one.stood for one in designs)]
    slippery = {n: float(np.mean([1 - one.stood[n][one.on_slippery].mean() for one in designs])) for n in names}
    falls = {n: float(np.mean([1 - one.stood[n].mean() for one in designs])) for n in names}
    error = {n: float(np.mean([_mean_error(one, n) for one in designs])) for n in names}
    safe = [n for n in names if falls[n] <= min(falls.values()) + _EQUAL]
    least = min(error[n] for n in safe)
    use = next(n for n in safe if error[n] <= 1.03 * least)
    titles = designs[0].titles
    return (
        "; ".join(
            f"{titles[n]} falls in {100 * slippery[n]:.1f} % of the situations on slippery ground, error {error[n]:.2f}"
            for n in names
        )
        + f". Use: {titles[use]}."
    )


def _mean_error(verdict: Verdict, name: str) -> float:
    alive = np.all(list(verdict.stood.values()), axis=0)
    return float(verdict.quality[name]["iae"][alive].mean())


_TICK = 0.01  # s
# For each channel: the two terms' centres, the gains in rolling, the gains where slip is seen.
_FOUND = {
    "knowledge base of a trial, 1500 evaluations": (
        ((0.115, 0.453), (84.75, 0.0, 12.36), (80.83, 0.0, 13.02)),
        ((0.051, 0.549), (19.86, 2.43, 0.0), (1.76, 0.01, 0.0)),
        ((0.0, 0.524), (1.33, 6.81, 0.0), (1.44, 0.83, 0.0)),
    ),
    "searched gains in rolling, random ones where slip is seen": (
        ((0.0, 0.5), (73.24, 0.0, 15.73), (75.39, 0.0, 11.74)),
        ((0.0, 0.5), (26.57, 0.0, 0.0), (2.31, 0.36, 0.0)),
        ((0.0, 0.5), (4.99, 4.4, 0.0), (0.38, 0.0, 0.0)),
    ),
}


def bases(like: Contender) -> Mapping[str, KnowledgeBase]:
    """Return the schedules as knowledge bases for the plant of a contender."""
    channels = like.plant.channels
    found = {}
    for title, several in _FOUND.items():
        rules = []
        for channel, (centres, rolling, slipping) in zip(channels, several, strict=True):
            grid = full_grid([2], rolling)
            pair = (grid[0], replace(grid[1], gains=slipping))
            seen = Variable("slip_seen", "1", 0.0, 1.0, centres)
            assert channel.gains_low is not None  # noqa: S101  (this plant's are given; for the type checker)
            assert channel.gains_high is not None  # noqa: S101
            rules.append(RuleBase(channel.output, (seen,), pair, channel.gains_low, channel.gains_high, rolling))
        found[title] = KnowledgeBase(like.plant.name, tuple(rules), Inference(), _TICK)
    return found


def table(like: Contender, verdict: Verdict, declared: Declaration) -> list[str]:
    """Return their falls against the fixed PID of a design, and their errors on dry ground, as Markdown lines."""
    situations = declared.unforeseen()
    chosen, base, rows = np.array([slippery(kind_of(one)) for one in situations]), verdict.stood[BASE], []
    for title, kb in bases(like).items():
        controller = FuzzyController(kb, laws=like.controller.laws)
        one = replace(like, title=title, controller=controller, theta=np.asarray(controller.theta))
        stood = one.survives(situations)
        value, low, high = fall_ratio(stood[chosen], base[chosen])
        rows.append([
            title, str(int((~stood[chosen]).sum())),
            f"{100 * (value - 1):+.0f} % [{100 * (low - 1):+.0f}, {100 * (high - 1):+.0f}]",
            difference(stood[chosen], base[chosen]), str(int((~stood[~chosen]).sum())), f"{when_taught(one):.3f}",
        ])  # fmt: skip
    head = ("schedule", "falls on slippery ground", f"against {int((~base[chosen]).sum())} of the fixed PID",
            "difference of standing, points", "falls elsewhere", "dry error when taught")  # fmt: skip
    return lines_of(head, rows)


def page(verdicts: Sequence[Verdict], declared: Declaration, chosen: command.Options) -> str:
    """Return the whole page."""
    words, number = " ".join(chosen.overrides), sum(declared.drawn["kinds"].values())
    head = [
        "# The balancing vehicle's comparison", "",
        f"Written by `python -m experiments.studies.vehicle.comparison{' ' + words if words else ''}`.", "",
        *conclusion(verdicts), "", f"The aim, {100 * declared.aim:g} % fewer falls on slippery ground:", "",
        *aim(verdicts, declared.aim), "",
        f"Drawn situations: {number} of {declared.drawn['horizon']:g} s, all with two commanded speeds and a turn,",
        f"simulated in steps of {1000 * declared.drawn['step']:g} ms. Error: integral of the errors of pitch, speed",
        "and yaw rate as measured, the speed by the encoders; true speed error: integral of the axle's; slip distance:",
        "path over which the wheels slid; entropy production: of all frictions, times T0. Effort and travel are of the",
        "commands: those of pitch and speed partly cancel in a PID, while LQR has one for both, so PIDs alone compare.",
        "Sensitivity is limited where there are PID gains, not for LQR.", "",
        *declared.lines(),
    ]  # fmt: skip
    parts = [line for verdict in verdicts for line in section(verdict)]
    tail = [
        "## Taught on slippery ground against the fixed gains taught on dry ground", "", *across(verdicts), "",
        "## What a schedule can do", "",
        "Two schedules over `slip_seen` found in trials before the situations above were drawn, judged in them",
        "afterwards, against the fixed PID of the first design. They are no contenders; they tell how much of what the",
        "signal allows the designs found. The first is of a search in the same taught situations, each channel with",
        "terms of its own begun at 0.05 and 0.5, and a lucky seed; the second was put together by hand.",
        "", *_bound(verdicts, declared, chosen), "",
        "## Figure", "", "Written by `python -m benchmarks.vehicles.balancing_vehicle.figure`.", "",
        "![Path, slip, pitch and speed on a wet patch](balancing_vehicle/comparison.svg)", "",
        "*A wet patch under the left wheel: path from above, slip of the left wheel, pitch, speed; up to a fall.*", "",
        "## What a design costs", "",
        "All contenders together; 4 taught situations of 8 s in the dry designs, 52 in the others; a machine",
        "with two cores, which other work shared.", "",
        *command.costs(chosen, ("design, s", "LQR's search, s", "drawn situations, s"), _times), "",
    ]  # fmt: skip
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def _bound(verdicts: Sequence[Verdict], declared: Declaration, chosen: command.Options) -> list[str]:
    """Schedules found in trials against the fixed PID of the first design on slippery ground."""
    verdict = next(one for one in verdicts if one.design.startswith(SLIPPERY))
    like = robots(chosen.folder / verdict.design, declared.drawn["step"])["fixed"]
    return table(like, verdict, declared)


def _times(seconds: Mapping[str, float]) -> list[str]:
    """Seconds of the design, of the search for LQR and of the drawn situations."""
    whole = sum(value for stage, value in seconds.items() if stage not in ("lqr", "drawn"))
    return [f"{value:.0f}" for value in (whole, seconds.get("lqr", 0.0), seconds.get("drawn", 0.0))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    command.command(_COMMAND, arguments)


_COMMAND = command.Command(
    text=__doc__, file=DECLARED, declaration=declaration, folder="runs/vehicle", experiment="balancing_vehicle_study",
    page=Path("docs/studies/balancing_vehicle.md"),
    found=lambda folders, declared: [judged(folder, declared) for folder in folders.values()],
    told=lambda verdicts, declared: [line for one in verdicts for line in section(one)],  # noqa: ARG005
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
