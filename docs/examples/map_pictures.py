"""The pictures of docs/guide/maps.md: what fixed gains bear of two quantities, for three plants.

    python docs/examples/map_pictures.py docs/guide

`sscq map` draws the same of a stored knowledge base; here the gains are searched in a minute or two, or the source's.
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import plants
import sscq
from controllers import PID
from experiments.report.builders.robustness import map_view
from experiments.report.drawing.html import asset
from experiments.report.sections.robustness import MapFigures
from plants.balancing_vehicle.model import NOMINAL_GAINS
from sscq.worst.map_axes import map_axis
from sscq.worst.robustness_map import MapSettings, robustness_map

POINTS = 40  # in each direction
ICE = {"patch_x": -100.0, "patch_length": 200.0, "patch_width": 200.0}  # the patch of other ground is everywhere


@dataclass(frozen=True)
class Case:
    """A plant, its situation among the taught ones, two ranges, and gains; None: searched."""

    plant: str
    situation: str
    x: tuple[str, float, float]
    y: tuple[str, float, float]
    step: float
    gains: tuple[float, ...] | None = None
    parameters: tuple[tuple[str, float], ...] = ()


CASES = {
    "map_van_der_pol": Case("van_der_pol", "", ("mu", 0.1, 4.0), ("delay", 0.0, 0.3), 0.01),
    "map_ice": Case(
        "balancing_vehicle", "drive a curve", ("patch", 0.02, 0.5), ("delay", 0.0, 0.03), 0.001, NOMINAL_GAINS,
        tuple(ICE.items()),
    ),
    "map_heater": Case("heater", "", ("transfer", 4.0, 30.0), ("delay", 0.0, 60.0), 0.5),
}  # fmt: skip


def drawn(case: Case) -> str:
    """The picture of a case: J, lost loops where there are any; beside searched gains half of them, and the change."""
    plant = plants.get(case.plant)
    taught = sscq.standard_sets(plant)["taught"]
    chosen = next((one for one in taught if one.name == case.situation), taught[0])
    situation = replace(chosen, parameters={**(chosen.parameters or {}), **dict(case.parameters)})
    laws = (PID(sample_time=max(case.step, 0.01)),) * len(plant.channels)
    gains, fitness = case.gains, sscq.Fitness(entropy_weight=0.0)
    if gains is None:
        method = sscq.GeneticAlgorithm(population=40, generations=25)
        found = sscq.optimize(plant, laws, taught, method, step=case.step, teacher=False)
        gains, fitness = tuple(found.gains), found.criterion
    x, y = (map_axis(plant, *ends, POINTS) for ends in (case.x, case.y))
    shares = {"fixed gains": 1.0} | ({} if case.gains else {"half of them": 0.5})
    several = {name: (laws, [share * np.array(gains)]) for name, share in shares.items()}
    made = robustness_map(plant, several, situation, x, y, MapSettings(fitness, case.step))
    lost = [f"{(each > 0.0).sum()} of {each.size}" for each in made.lost]
    print(f"{case.plant}: gains {np.round(gains, 3).tolist()}; loops lost at {lost} points")
    figures = MapFigures(map_view(plant, situation, (x, y), tuple(shares), made.cost, made.lost))
    return picture([*figures.cost(), *figures.change(), *figures.lost()])


def picture(charts: list[str]) -> str:
    """The charts side by side in one file, with the report's style in light colours."""
    style = asset("style.css")
    light = re.search(r":root \{.*?\n\}", style, re.DOTALL)
    rules = re.findall(r"^(?:svg |\.[hgl]\d|\.grid, |\.visited |\.casing |\.end |\.mid ).*$", style, re.MULTILINE)
    if light is None or not rules:
        raise SystemExit(f"the report's style was changed: mend {Path(__file__).name}")
    parts, at, high = [], 0.0, 0.0
    for chart in charts:
        drawing = re.search(r"<svg.*</svg>", chart, re.DOTALL)[0]
        width, height = (float(n) for n in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing).groups())
        parts.append(drawing.replace("<svg ", f'<svg x="{at:g}" y="0" width="{width:g}" height="{height:g}" ', 1))
        at, high = at + width, max(high, height)
    size = f'viewBox="0 0 {at:g} {high:g}" width="{at:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{light[0]}{" ".join(rules)}</style>'
    paper = f'<rect width="{at:g}" height="{high:g}" style="fill: var(--card)"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""])


def main(folder: str, *names: str) -> None:
    """Draw the pictures, all or those named."""
    for name in names or CASES:
        path = Path(folder) / f"{name}.svg"
        path.write_text(drawn(CASES[name]), encoding="utf-8")
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
