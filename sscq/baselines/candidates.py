"""The ladder of baselines: every kind of controller that a knowledge base has to beat.

Each kind of controller is a :class:`Candidate`: laws, schedule, box of parameters, start. All are searched alike
(:mod:`sscq.baselines.search_plan`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, GainTable, TwoDegreePID, gain_names
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
    """Gains linear over one scheduling variable between two nodes whose distance is searched: seven parameters."""
    schedule = GainTable(
        variable.signal, (0.0, 1.0), transform=variable.transform, search_scale=True,
        gain_names=gain_names(tuple(laws)), tick=tick,
    )  # fmt: skip
    n, rows = len(low), np.atleast_2d(start)
    warp = GainScale(low, high, rows[0])
    genes = warp.genes(rows)
    begin = np.hstack([genes, genes, np.full((len(rows), 1), np.sqrt(variable.least * variable.most))])

    def decode(genomes: np.ndarray) -> np.ndarray:
        nodes = warp.gains(genomes[:, : 2 * n].reshape(len(genomes), 2, n)).reshape(len(genomes), 2 * n)
        return np.hstack([nodes, genomes[:, 2 * n :]])

    return Candidate(
        f"table_{variable.name}", f"gain table over {variable.title}", Controller(tuple(laws), schedule),
        np.concatenate([np.zeros(2 * n), [variable.least]]), np.concatenate([np.ones(2 * n), [variable.most]]), begin,
        (*("linear",) * (2 * n), "log"), decode,
    )  # fmt: skip


@dataclass(frozen=True)
class TableVariable:
    """A scheduling variable of a gain table: signal, transform and the range in which its scale is searched."""

    name: str
    title: str
    signal: str
    transform: str
    least: float
    most: float


def variables(plant: Plant) -> list[TableVariable]:
    """Return the variables that one-variable tables are tried on: |e|, |e'| and the square of the output."""
    channel = plant.channels[0]
    scale = channel.scale
    return [
        TableVariable("error", "the error's magnitude", "error", "magnitude", 0.1 * scale, 10.0 * scale),
        TableVariable("rate", "the error rate's magnitude", "error_rate", "magnitude", 0.1 * scale, 20.0 * scale),
        TableVariable(
            "output", f"the square of {channel.output}", channel.output, "square", 0.1 * scale**2, 20.0 * scale**2
        ),
    ]
