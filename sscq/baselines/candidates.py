"""The ladder of baselines: every kind of controller that a knowledge base has to beat.

Each kind of controller is a :class:`Candidate`: laws, schedule, box of parameters, start. All are searched alike
(:mod:`sscq.baselines.search_plan`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, GainTable, TwoDegreePID, gain_names
from plants import is_odd
from plants.core.analysis.linearise import linearise
from sscq.search.encoding import FixedGains, GainScale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controllers import PID
    from plants import Plant


@dataclass(frozen=True)
class Candidate:
    """A kind of controller to be searched.

    Attributes
    ----------
    name, title : str
    controller : Controller
    low, high : ndarray [n_genes]
    start : ndarray [n_start, n_genes]
    scale : str or tuple of str
        Scale of the genes, as for a search.
    decode : callable, optional
        Genomes [n, n_genes] to schedule parameters [n, n_theta].
    """

    name: str
    title: str
    controller: Any
    low: np.ndarray
    high: np.ndarray
    start: np.ndarray
    scale: str | tuple[str, ...] = "linear"
    decode: Callable[[np.ndarray], np.ndarray] | None = None


def gain_encoding(laws: Sequence[PID], low: np.ndarray, high: np.ndarray) -> FixedGains:
    """Return the encoding of constant gains: one gene a gain, logarithmic over more than two orders of magnitude."""
    return FixedGains(
        low=tuple(np.asarray(low, float).tolist()), high=tuple(np.asarray(high, float).tolist()),
        gain_names=gain_names(tuple(laws)), any_sign=True,
    )  # fmt: skip


def fixed(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, start: np.ndarray) -> Candidate:
    """Constant gains: the fixed PID."""
    encoding = gain_encoding(laws, low, high)
    return Candidate(
        "fixed", "fixed PID", Controller(tuple(laws), encoding.schedule()), low, high, np.atleast_2d(start),
        encoding.box.scale,
    )  # fmt: skip


def two_degree(laws: Sequence[PID], low: np.ndarray, high: np.ndarray, start: np.ndarray) -> Candidate:
    """Constant gains and a set-point weight b in [0, 1.5] for each channel; the first start bends the gains' genes."""
    names = {f.name for f in fields(TwoDegreePID)}
    free = tuple(
        TwoDegreePID(**{f.name: getattr(law, f.name) for f in fields(law) if f.name in names and f.init})
        for law in laws
    )
    controller = Controller(free, ConstantGains(gain_names(free)))
    rows, places = np.atleast_2d(start), _gain_places(len(laws))
    warp = GainScale(low, high, rows[0])
    top = np.full(4 * len(laws), 1.5)
    top[places] = 1.0
    begin = np.ones((len(rows), 4 * len(laws)))
    begin[:, places] = warp.genes(rows)
    begin[:, places[::3] + 3] = [getattr(law, "set_point_weight", 1.0) for law in laws]  # the fixed PID itself

    def decode(genomes: np.ndarray) -> np.ndarray:
        theta = genomes.copy()
        theta[:, places] = warp.gains(genomes[:, places])
        return theta

    return Candidate(
        "two_degree", "two-degree-of-freedom PID", controller, np.zeros(4 * len(laws)), top, begin,
        decode=decode,
    )  # fmt: skip


def _gain_places(n_channels: int) -> np.ndarray:
    return np.concatenate([4 * i + np.arange(3) for i in range(n_channels)])


def table(
    laws: Sequence[PID],
    low: np.ndarray,
    high: np.ndarray,
    start: np.ndarray,
    variable: TableVariable,
    tick: float | None,
) -> Candidate:
    """Gains linear over one scheduling variable between two nodes: six parameters.

    Of a magnitude or a square the distance of the nodes is searched as well; those of an output stand at the ends of
    its operating points.
    """
    scaled = variable.transform != "identity"
    schedule = GainTable(
        variable.signal, (0.0, 1.0) if scaled else (variable.least, variable.most), transform=variable.transform,
        search_scale=scaled, gain_names=gain_names(tuple(laws)), tick=tick,
    )  # fmt: skip
    n, rows = len(low), np.atleast_2d(start)
    warp = GainScale(low, high, rows[0])
    genes = warp.genes(rows)
    ends = [[variable.least], [variable.most]] if scaled else [[], []]
    middle = [np.full((len(rows), 1), np.sqrt(variable.least * variable.most))] if scaled else []
    begin = np.hstack([genes, genes, *middle])

    def decode(genomes: np.ndarray) -> np.ndarray:
        nodes = warp.gains(genomes[:, : 2 * n].reshape(len(genomes), 2, n)).reshape(len(genomes), 2 * n)
        return np.hstack([nodes, genomes[:, 2 * n :]])

    return Candidate(
        f"table_{variable.name}", f"gain table over {variable.title}", Controller(tuple(laws), schedule),
        np.concatenate([np.zeros(2 * n), ends[0]]), np.concatenate([np.ones(2 * n), ends[1]]), begin,
        (*("linear",) * (2 * n), *("log",) * scaled), decode,
    )  # fmt: skip


_ONE_PLACE = 1e-3  # of the output's scale: so near to one another operating points tell no schedule


@dataclass(frozen=True)
class TableVariable:
    """A scheduling variable of a gain table.

    Attributes
    ----------
    name, title, signal, transform : str
    least, most : float
        Range in which the nodes' distance is searched; without a transform the nodes themselves.
    as_input : str
        The input of a knowledge base that tells the same.
    """

    name: str
    title: str
    signal: str
    transform: str
    least: float
    most: float
    as_input: str


def variables(plant: Plant) -> list[TableVariable]:
    """Return the variables that one-variable tables are tried on: |e|, |e'| and the output.

    Where the operating points lie on both sides of zero alike, or at one place, it is the square of the output.
    """
    channel = plant.channels[0]
    scale, output = channel.scale, channel.output
    return [
        TableVariable("error", "the error's magnitude", "error", "magnitude", 0.1 * scale, 10.0 * scale, "e"),
        TableVariable(
            "rate", "the error rate's magnitude", "error_rate", "magnitude", 0.1 * scale, 20.0 * scale, "e_rate"
        ),
        _of_output(plant, output, scale),
    ]


def outputs_at_points(plant: Plant) -> list[float]:
    """Return the first channel's output at the operating points, ascending; a point that nothing holds is left out."""
    place, found = plant.index("measurements", plant.channels[0].output), []
    for point in plant.operating_points:
        try:
            found.append(float(linearise(plant, point, commands=True).output[place]))
        except ValueError:  # margins, where they are asked for, say what is wrong
            continue
    return sorted(found)


def _of_output(plant: Plant, output: str, scale: float) -> TableVariable:
    values = outputs_at_points(plant)
    low, high = (values[0], values[-1]) if values else (0.0, 0.0)
    if low < 0.0 < high or high - low <= _ONE_PLACE * scale or is_odd(plant):
        return TableVariable(
            "output", f"the square of {output}", output, "square", 0.1 * scale**2, 20.0 * scale**2, output
        )
    return TableVariable("output", output, output, "identity", low, high, output)
