"""Figures of the car's comparison, written into docs/studies/suspension.

Command: ``python -m benchmarks.vehicles.suspension.figures [RUN]``.

RUN is a finished design, by default runs/suspension/together-0; its trade-offs are computed beside it once.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import plants
import sscq
from benchmarks.runner.svg import Chart, SvgLine, figure
from experiments.report.builders.motion import density
from experiments.runtime.errors import UserError, user_errors
from experiments.studies.engine.contenders import RivalController, named_contenders
from experiments.studies.suspension import animation
from experiments.studies.suspension.families import Family, families
from plants.core import atomic_files
from plants.ride import WK

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[3] / "docs" / "studies" / "suspension"
SHOWN = ("rival_as_built", "rival_sky_hook", "rival_mixed", "fixed", "knowledge_base")
_SHORT = {"knowledge_base": "knowledge base", "rival_mixed": "mixed", "rival_as_built": "passive, as built"}
_SPECTRUM_TIME, _SEGMENT, _TOP = 60.0, 8192, 30.0  # s, samples, Hz


def _situation(name: str) -> sscq.Situation:
    every = plants.get("suspension").situations
    return next(sscq.Situation(**one) for several in every.values() for one in several if one["name"] == name)


def trade_off(found: Mapping[str, Family]) -> str:
    """Comfort against road holding: the front of every family."""
    charts = []
    for kind in ("taught", "unforeseen"):
        curves = [
            SvgLine(one.title, one.tyre[kind][one.front(kind)], one.ride[kind][one.front(kind)], dots=True)
            for one in found.values()
        ]
        charts.append(
            Chart(f"{kind} situations", "tyre-load variation", "weighted acceleration, m/s²", tuple(curves),
                  width=560, height=440)
        )  # fmt: skip
    return figure(charts)


def histories(known: Mapping[str, RivalController], situation: sscq.Situation, first: float, last: float) -> str:
    """Heave acceleration, tyre load and damper setting front left, between two times [s]."""
    rows = (
        ("output heave_acceleration", "heave acceleration, m/s²", 1.0),
        ("output tyre_load_i", "front left tyre load, kN", 1e-3),
        ("c_i", "front left damper, kN s/m", 1e-3),
    )
    panels: dict[str, list[SvgLine]] = {label: [] for _, label, _ in rows}
    for number, name in enumerate(("rival_as_built", "rival_sky_hook", "fixed", "knowledge_base")):
        drive = known[name].record(situation)
        step = known[name].plant.step
        shown = slice(round(first / step), round(last / step) + 1, 2)
        for signal, label, factor in rows:
            if (signal, name) == ("c_i", "rival_as_built"):
                continue
            values = factor * drive[signal][shown]
            panels[label].append(SvgLine(_SHORT.get(name, known[name].title), drive.time[shown], values, colour=number))
    charts = [Chart(label, "time, s", label, tuple(curves), width=940, height=260) for label, curves in panels.items()]
    return figure(charts, columns=1)


def spectra(known: Mapping[str, RivalController]) -> str:
    """Power spectral densities of the heave acceleration, as it is and as it is felt."""
    situation = replace(_situation("class C at 25 m/s"), t_end=_SPECTRUM_TIME)
    plain, felt = [], []
    for name in SHOWN:
        drive = known[name].record(situation)
        frequency, power = density(drive["output heave_acceleration"], known[name].plant.step, _SEGMENT)
        seen = (frequency >= 0.3) & (frequency <= _TOP)
        frequency, power = frequency[seen], power[seen]
        title = _SHORT.get(name, known[name].title)
        plain.append(SvgLine(title, frequency, power))
        felt.append(SvgLine(title, frequency, power * np.abs(WK.response(frequency)) ** 2))
    label = "density, (m/s²)²/Hz"
    return figure([
        Chart("heave acceleration", "frequency, Hz", label, tuple(plain), log_x=True, log_y=True),
        Chart("weighted by Wk", "frequency, Hz", label, tuple(felt), log_x=True, log_y=True),
    ])  # fmt: skip


def main() -> None:
    """Write all figures and the animation."""
    run = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/suspension/together-0")
    with user_errors():
        if not (run / "metrics.json").is_file():
            raise UserError(f"{run} is no finished design: give the folder of one, such as runs/suspension/together-0")
    known = named_contenders(run, SHOWN)
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawn = {
        "bump": histories(known, _situation("bump"), 0.4, 1.6),
        "class_c": histories(known, _situation("class C at 25 m/s"), 4.0, 6.0),
        "spectra": spectra(known),
        "trade_off": trade_off(families(run)),
    }
    for name, text in drawn.items():
        atomic_files.write(FOLDER / f"{name}.svg", text)
    animation.write(run, FOLDER / "animation.html")
    print(f"written: {', '.join(f'{name}.svg' for name in drawn)} and animation.html in {FOLDER}")


if __name__ == "__main__":
    main()
