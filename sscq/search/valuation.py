"""The fitness of a population: each genome valued once, within the budget, whatever the function returns."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sscq.search.box import Box

REMEMBERED = 20_000
"""Genomes whose fitness is remembered; beyond, all but those of the last population are forgotten."""


class Evaluate(Protocol):
    """Fitness of genomes; may have a method ``renew(generation)`` that draws new random numbers from `generation`."""

    def __call__(self, genomes: NDArray[np.float64], /) -> ArrayLike:
        """Return the fitness [n], or rows [n, columns], of genomes [n, n_genes]; minimised; not finite: failed."""


class Valuation:
    """Values points of the unit cube, and remembers.

    Parameters
    ----------
    columns : int
        Numbers that each genome is valued with; 0: one fitness, without an axis of its own.

    Attributes
    ----------
    spent : int
        Genomes valued so far.
    known : dict
        Fitness (a list, where it has columns) by the genome's bytes, in the order of valuation; entries are only added,
        until it is replaced.
    """

    def __init__(
        self, evaluate: Evaluate, box: Box, start: NDArray[np.float64], budget: int | None, columns: int = 0
    ) -> None:
        self.evaluate, self.box, self.budget = evaluate, box, budget
        self._shape = (columns,) if columns else ()
        self.spent = 0
        self.known: dict[bytes, Any] = {}
        self._given = dict(zip(_keys(box.encode(start)), start, strict=True))

    def renew(self, generation: int) -> None:
        """Have new random numbers drawn and forget what was known."""
        renew: Any = getattr(self.evaluate, "renew", None)
        if not callable(renew):
            raise TypeError(
                "renew_every needs an evaluate object with a method renew(generation); use renew_every=None"
            )
        renew(generation)
        self.known = {}

    def genomes(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the genomes [n, n_genes] of points [n, n_free]; start genomes keep the numbers given."""
        genomes = self.box.decode(points)
        for row, key in enumerate(_keys(points)):
            if key in self._given:
                genomes[row] = self._given[key]
        return genomes

    def fitness(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the fitness [n] or [n, columns] of points [n, n_free]: inf where failed, NaN beyond the budget.

        What was valued before, or stands twice among the points, is not valued again.
        """
        genomes = self.genomes(points)
        keys = _keys(genomes)
        fresh: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in self.known:
                fresh.setdefault(key, row)
        affordable = len(fresh) if self.budget is None else min(len(fresh), self.budget - self.spent)
        chosen = list(fresh.items())[:affordable]
        if chosen:
            values = self._call(genomes[[row for _, row in chosen]])
            self.known.update(zip((key for key, _ in chosen), values.tolist(), strict=True))
            self.spent += affordable
        unknown = np.full(self._shape, np.nan).tolist()
        return np.array([self.known.get(key, unknown) for key in keys])

    def forget(self, points: NDArray[np.float64]) -> None:
        """Keep no more than these, if too much is remembered."""
        if len(self.known) > REMEMBERED:
            self.known = {key: self.known[key] for key in _keys(self.genomes(points)) if key in self.known}

    def remembered(self, known: dict[bytes, Any], count: int) -> dict[str, NDArray[np.float64]]:
        """Return the first `count` entries of `known` as arrays."""
        genomes = np.frombuffer(b"".join(islice(known, count)), dtype=np.float64).reshape(-1, self.box.n_genes)
        return {"genomes": genomes, "fitness": np.array(list(islice(known.values(), count)), dtype=np.float64)}

    def remember(self, genomes: NDArray[np.float64], fitness: NDArray[np.float64]) -> None:
        """Take over what :meth:`remembered` gave."""
        self.known = dict(zip(_keys(genomes), fitness.tolist(), strict=True))

    def _call(self, genomes: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.array(self.evaluate(genomes), dtype=np.float64)
        shape = (len(genomes), *self._shape)
        if values.shape != shape:
            what = f"{self._shape[0]} numbers" if self._shape else "one fitness"
            raise ValueError(
                f"evaluate must return {what} for each of the {len(genomes)} genomes, shape {shape}, "
                f"got shape {values.shape}"
            )
        return np.where(np.isfinite(values), values, np.inf)


def _keys(rows: NDArray[np.float64]) -> list[bytes]:
    """Bytes of each row."""
    width = rows.shape[1] * rows.itemsize
    if not width:
        return [b""] * len(rows)
    return cast("list[bytes]", np.ascontiguousarray(rows).view(np.dtype((np.void, width))).ravel().tolist())
