"""Draw how a stored knowledge base and its reference gains fare over two ranges: cost J, lost loops, Ms.

As in::

    sscq map kb=runs/design/20250101-120000/knowledge_base.json x=mu:[0.1,3] y=delay:[0,0.2]
    sscq map kb=knowledge_base.json x=noise:[0,0.1] y=parameters.mu:[0.5,2] situation=far points=50 seeds=8
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.cases import kb_case
from experiments.cases.frozen_margins import frozen_margins
from experiments.cases.map_case import MapCase
from experiments.report import map_page
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.progress import Progress
from experiments.starting.launch import command
from plants.core.gpu.driver import gpu
from plants.core.names import unknown
from sscq.loop.closed_loop import ClosedLoop
from sscq.situations.situation_sets import standard_sets
from sscq.worst.envelope import situations_by_name
from sscq.worst.map_axes import check_pair, map_axis, read_range
from sscq.worst.robustness_map import MapSettings, RobustnessMap, robustness_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import MapConfig
    from experiments.runtime.run_folder import RunFolder
    from sscq.worst.map_axes import MapAxis

_ROUNDING = 1e-9  # of J: equal gains that are computed in two ways differ by less
_QUANTILES = {"best": 0.0, "median": 0.5, "worst": 1.0}
_TABLE_ROWS = 250_000  # of map.csv; a finer map is kept as arrays alone


@dataclass(frozen=True, eq=False)
class DrawnMap:
    """What `sscq map` found and wrote.

    Attributes
    ----------
    arrays : mapping
        "x", "y" [n]; "cost" and "lost" [controller, y, x], whose controllers are "names"; NaN: the plant cannot start
        or rest there.
    margins : mapping
        "x", "y" [m], "peak" [controller, y, x]: the largest Ms about the operating points.
    numbers : mapping
        Of metrics.json.
    page, table : Path
    """

    arrays: Mapping[str, np.ndarray]
    margins: Mapping[str, np.ndarray]
    numbers: Mapping[str, Any]
    page: Path
    table: Path


def draw_map(config: MapConfig, folder: RunFolder) -> None:
    """Run the loops, write map.html, map.csv, map.npz and metrics.json, and print what they show."""
    case = prepared(config)
    drawn = kept(config, case, folder)
    print("\n".join(told(case, drawn.numbers)))
    print(f"map: {drawn.page}\nnumbers: {drawn.table}")


def kept(config: MapConfig, case: MapCase, folder: RunFolder) -> DrawnMap:
    """Run the loops, write map.html, map.csv, map.npz and metrics.json, and return what they show."""
    stored = folder.stage("map", lambda _: _arrays(computed(config, case)), *formats.as_npz("map.npz"))
    margins = folder.stage("margins", lambda _: peaks(config, case), *formats.as_npz("margins.npz"))
    n, k = config.points, len(case.contenders)
    _check_shapes(stored, "map", {"x": (n,), "y": (n,), "cost": (k, n, n), "lost": (k, n, n), "starts": ()})
    m = len(margins.get("x", ()))
    _check_shapes(margins, "margins", {"x": (m,), "y": (m,), "peak": (k, m, m)})
    numbers = summary(case, stored)
    folder.write_npz("map.npz", stored)
    table = _write_table(folder, case, stored)
    folder.write_json("metrics.json", numbers)
    page = folder.write_text("map.html", map_page.page(case, stored, margins))
    return DrawnMap(stored, margins, numbers, page, table)


def prepared(config: MapConfig) -> MapCase:
    """Return what is to be drawn.

    Raises
    ------
    ValueError
        If the knowledge base, the axes or the situation do not fit the plant.
    """
    kb, plant = kb_case.loaded(config)
    if config.x is None or config.y is None:
        raise UserError("a map needs x=NAME:[LOW,HIGH] and y=NAME:[LOW,HIGH], such as x=mu:[0.1,3] y=delay:[0,0.2]")
    axes = [map_axis(plant, *read_range(text), config.points) for text in (config.x, config.y)]
    check_pair(plant, *axes)
    known = situations_by_name(plant)
    name = config.situation or standard_sets(plant)["taught"][0].name
    if name not in known:
        raise UserError(unknown(f"situation of plant {plant.name!r}", name, list(known)))
    contenders = kb_case.contenders_of(kb, config.controller.own_gains)
    return MapCase(plant, known[name], contenders, kb_case.fitness_of(kb), axes[0], axes[1])


def checked(config: MapConfig) -> MapCase:
    """Return what is to be drawn, before anything is written; a GPU that was asked for must be there, and do."""
    case = prepared(config)
    if config.device == "cuda" and config.resume is None:
        gpu()
        for one in case.contenders:
            loop = ClosedLoop(
                case.plant,
                one.controller,
                (case.situation,),
                config.integration_step,
                integrator=config.integrator,
                algebraic_loop=config.algebraic_loop,
                device=config.device,
            )
            _ = loop.device_text  # refused where a block is a call
    return case


def computed(config: MapConfig, case: MapCase) -> RobustnessMap:
    """Return the map."""
    settings = MapSettings(
        case.fitness,
        config.integration_step,
        config.seeds,
        config.integrator,
        config.algebraic_loop,
        config.device,
        config.threads,
    )
    total = config.points**2 * config.seeds * len(case.contenders)
    controllers = {one.name: (one.controller, one.theta) for one in case.contenders}
    with Progress(total, "map", "loops", quiet=config.quiet) as progress:
        return robustness_map(case.plant, controllers, case.situation, case.x, case.y, settings, progress.at)


def peaks(config: MapConfig, case: MapCase) -> dict[str, np.ndarray]:
    """Return the largest Ms about the operating points [controller, n_y, n_x] on a coarse grid; NaN: no point is held.

    Of the gains at rest there, standing still; infinite: the loop is unstable with them.
    """
    n = min(config.margin_points, config.points)
    if n == 0 or not case.plant.operating_points:
        return {"x": np.empty(0), "y": np.empty(0), "peak": np.empty((len(case.contenders), 0, 0))}
    columns, rows = (np.linspace(axis.values[0], axis.values[-1], n) for axis in (case.x, case.y))
    found = np.full((len(case.contenders), n, n), np.nan)
    with Progress(found.size, "margins", "points", quiet=config.quiet) as progress:
        for place in np.ndindex(found.shape):
            number, row, column = place
            situation = case.x.set_in(case.situation, float(columns[column]), case.plant)
            situation = case.y.set_in(situation, float(rows[row]), case.plant)
            one = case.contenders[number]
            try:
                channels = frozen_margins(
                    case.plant, one.controller, one.theta, [situation], config.integration_step, in_passing=False
                )
            except ValueError:  # nothing holds the plant at an operating point there
                channels = []
            values = [each["sensitivity"] if each["stable"] else None for each in channels]
            found[place] = max((np.inf if v is None else v for v in values), default=np.nan)
            progress.at(1 + int(np.ravel_multi_index(place, found.shape)))
    return {"x": columns, "y": rows, "peak": found}


def _check_shapes(arrays: Mapping[str, np.ndarray], stage: str, wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Raise where a stage's file, which may be a stranger's, holds other arrays than its command writes."""
    for name, shape in wanted.items():
        there = arrays.get(name)
        if there is None or there.shape != shape or (name != "starts" and there.dtype != np.float64):
            found = "none" if there is None else f"{there.dtype} {there.shape}"
            message = f"array {name!r} of stage {stage!r} must be float64 {shape}, got {found}"
            raise UserError(f"{message}; delete the stage's folder to have it computed again")


def _arrays(made: RobustnessMap) -> dict[str, np.ndarray]:
    ends = {"x": made.x.values, "y": made.y.values, "names": np.array(made.names)}
    return ends | {"cost": made.cost, "lost": made.lost, "starts": np.array(made.starts)}


def _write_table(folder: RunFolder, case: MapCase, stored: dict[str, np.ndarray]) -> Path:
    """Write map.csv and return its path; of a map that is too fine for a table that of its arrays."""
    if stored["cost"][0].size > _TABLE_ROWS:
        return folder.path / "map.npz"
    names = [one.name for one in case.contenders]
    head = [case.x.name, case.y.name, *(f"{what}_{name}" for name in names for what in ("cost", "lost"))]
    y, x = np.meshgrid(stored["y"], stored["x"], indexing="ij")
    columns = [each[k].reshape(-1) for k in range(len(names)) for each in (stored["cost"], stored["lost"])]
    return folder.write_csv("map.csv", head, np.column_stack([x.reshape(-1), y.reshape(-1), *columns]).tolist())


def summary(case: MapCase, stored: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return what a map says in numbers."""
    cost, lost = stored["cost"], stored["lost"]
    alike = np.isfinite(cost).all(axis=0)
    whole = alike & (lost == 0.0).all(axis=0)
    names = [one.name for one in case.contenders]
    numbers: dict[str, Any] = {
        "situation": case.situation.name,
        "points": int(alike.sum()),
        "refused": int((~alike).sum()),
        "starts": str(stored["starts"]),
        "lost_points": {name: int((lost[k] > 0.0)[alike].sum()) for k, name in enumerate(names)},
        "mean_cost": {name: _mean(cost[k][whole]) for k, name in enumerate(names)},
    }
    base, ours = names.index("reference"), names.index("knowledge_base")
    change = cost[ours][whole] / cost[base][whole] - 1.0
    change[np.abs(change) < _ROUNDING] = 0.0
    numbers["better_share"] = float((change < 0.0).mean()) if change.size else None
    numbers["change"] = {name: _quantile(change, share) for name, share in _QUANTILES.items()}
    return numbers


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _quantile(values: np.ndarray, share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None


def told(case: MapCase, numbers: Mapping[str, Any]) -> list[str]:
    """Return a map in words."""
    titles = {one.name: one.title for one in case.contenders}
    axes = ", ".join(_axis_words(axis) for axis in (case.x, case.y))
    lines = [f"{numbers['points']} points of {case.plant.name}, situation {numbers['situation']!r}: {axes}"]
    for name, n in numbers["lost_points"].items():
        mean = numbers["mean_cost"][name]
        cost = "" if mean is None else f"mean J {mean:.4g} where no loop is lost, "
        lines.append(f"  {titles[name]}: {cost}loops lost at {n} of {numbers['points']} points")
    change = numbers["change"]
    if change["best"] == change["worst"] == 0.0:
        lines.append("knowledge base and reference gains cost the same everywhere, where none is lost")
    elif numbers["better_share"] is not None:
        per_cent = {key: f"{100.0 * change[key]:+.3g} %" for key in _QUANTILES}
        lines.append(
            f"knowledge base against reference gains, where none is lost: better at "
            f"{100.0 * numbers['better_share']:.3g} % of the points; J {per_cent['median']} in the median, "
            f"{per_cent['best']} at best, {per_cent['worst']} at worst"
        )
    if numbers["refused"]:
        lines.append(f"{numbers['refused']} points are blank: the plant cannot start or rest there")
    return lines


def _axis_words(axis: MapAxis) -> str:
    unit = f" {axis.unit}" if axis.unit not in {"", "1"} else ""
    return f"{axis.name.removeprefix('parameters.')} {axis.values[0]:g} .. {axis.values[-1]:g}{unit}"


_run = command("map", draw_map, checked)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; axes may be written without quotes, which Hydra would ask for."""
    given = list(sys.argv[1:] if words is None else words)
    _run([re.sub(r"^([xy])=([^'\"{].*)$", r"\1='\2'", word) for word in given])


if __name__ == "__main__":
    main()
