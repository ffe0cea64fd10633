"""Number, reach and shape of linguistic terms by search: what the whole grid of rules would tell about the gains.

The criterion is Phi of :mod:`flcs.learning.information`. Looked at alone, an input gets the number of terms that is
best for itself. In a search all inputs are taken together, with the information of the grid in place of that of each
input:

    I = mean over gains of -1/2 ln(RSS / TSS) - 1/2 (d - 1) ln N / N,

RSS what rules fitted by least squares leave of the gains' weighted squares TSS, d the rules that the rows determine,
N the sum of the weights. The first part is the mutual information [nat] of gains whose residuals are normal, the second
what as many rules would tell by chance. So terms of two inputs that only tell together are found, and no more of them
than the rows bear. The information of each input alone grows with every further term: it finds no number.
Source: G. Schwarz, Estimating the dimension of a model, Annals of Statistics 6 (1978) 461-464.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference.membership import SHAPES
from flcs.learning import least_squares
from flcs.learning.information import FEWEST, MOST, gain_terms, moving, mutual_information, term_entropy
from flcs.learning.terms import Population

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.inference.variable import Variable
    from flcs.learning.information import Array, Search


Choice = tuple[int, float, float]
"""Number of terms, evenness and overlap of one input."""

WEIGHTS = (1.0, 1.0, 0.25)
"""a, b, c of Phi: evenness of use, information, number of terms."""

MOST_RULES = 125
_BEYOND = 1e3  # Phi of a grid that is too large: worse than any other, the worse the larger
_PERFECT = 1e-6  # share of the squares: rows without noise would tell infinitely much
_GENERATIONS = 30
_EVENNESS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class TermChoice:
    """Linguistic terms that a search found.

    Attributes
    ----------
    shape : str
    terms : tuple of (number of terms, evenness, overlap) [n_inputs]
    phi : float
        Criterion, the smaller the better.
    information : float
        Of the grid of rules about the gains [nat], less what as many rules would tell by chance.
    tried : mapping of shape to float
        Phi of the best terms of every shape that was tried.
    """

    shape: str
    terms: tuple[Choice, ...]
    phi: float
    information: float
    tried: dict[str, float]


@dataclass(frozen=True, eq=False)
class GridMeasure:
    """Phi of terms of all inputs together.

    Attributes
    ----------
    inputs : array [n, n_inputs]
    gains : array [n, n_gains]
    weight : array [n]
    shape : str
    prior : float
        Pull of every rule towards the mean gains, in rows.
    """

    inputs: Array
    gains: Array
    weight: Array
    shape: str = "triangular"
    prior: float = 1.0

    @cached_property
    def _rows(self) -> Array:
        return self.weight if self.weight.sum() > 0.0 else np.ones(len(self.weight))

    @cached_property
    def _populations(self) -> list[Population]:
        return [Population(x, self.weight) for x in self.inputs.T]

    @cached_property
    def _centred(self) -> Array:
        """Gains that move, less their mean."""
        columns = moving(self.gains)
        wanted = np.stack(columns, axis=1) if columns else np.zeros((len(self.gains), 0))
        return wanted - np.einsum("n,no->o", self._rows, wanted) / self._rows.sum()

    def __call__(self, genomes: Array) -> Array:
        """Return Phi [n] of genomes [n, 3 * n_inputs]: number of terms, evenness and overlap of each input."""
        return np.array([self.phi(decoded(genome)) for genome in np.asarray(genomes, dtype=float)])

    def phi(self, choices: Sequence[Choice]) -> float:
        """Return Phi of terms."""
        counts = [n for n, _, _ in choices]
        if np.prod(counts) > MOST_RULES:
            return _BEYOND + float(np.prod(counts))
        variables = self.variables(choices)
        even = np.mean([term_entropy(v, x, self.weight) for v, x in zip(variables, self.inputs.T, strict=True)])
        few = np.mean(counts) / MOST
        a, b, c = WEIGHTS
        return float(-a * even - b * self.information(variables) + c * few)

    def variables(self, choices: Sequence[Choice]) -> list[Variable]:
        """Return the linguistic variables of a choice."""
        pairs = zip(self._populations, choices, strict=True)
        return [
            population.variable("input", n, shape=self.shape, evenness=evenness, overlap=overlap)
            for population, (n, evenness, overlap) in pairs
        ]

    def information(self, variables: Sequence[Variable]) -> float:
        """Return what the grid of rules tells about the gains [nat], less what as many would tell by chance."""
        wanted, w = self._centred, self._rows
        if not wanted.shape[1]:
            return 0.0
        shares = _shares(variables, self.inputs)
        weighted = shares * w[:, None]
        gram = np.einsum("ni,nj->ij", weighted, shares)
        support, pull = np.diagonal(gram).copy(), self.prior + 1e-9
        gram[np.diag_indices(len(gram))] += pull
        found = least_squares.cholesky_solve(gram, np.einsum("ni,no->io", weighted, wanted))
        left = np.einsum("n,no->o", w, (wanted - np.einsum("ni,io->no", shares, found)) ** 2)
        total = np.einsum("n,no->o", w, wanted**2)
        told = -0.5 * np.log(np.maximum(left / np.maximum(total, 1e-300), _PERFECT)).mean()
        n = max(float(w.sum()), 2.0)
        return float(told - 0.5 * ((support / (support + pull)).sum() - 1.0) * np.log(n) / n)


def _shares(variables: Sequence[Variable], inputs: Array) -> Array:
    """Share of every rule of the grid in the gains of every row [n, n_rules]."""
    rules = np.ones((len(inputs), 1))
    for variable, x in zip(variables, inputs.T, strict=True):
        terms = np.stack(variable.memberships(x), axis=1)
        rules = (rules[:, :, None] * terms[:, None, :]).reshape(len(x), -1)
    return np.asarray(rules / np.maximum(rules.sum(axis=1, keepdims=True), 1e-300))


def decoded(genome: Array) -> tuple[Choice, ...]:
    """Return number of terms, evenness and overlap of every input from a genome [3 * n_inputs]."""
    return tuple(
        (int(np.clip(round(float(n)), FEWEST, MOST)), float(evenness), float(overlap))
        for n, evenness, overlap in np.reshape(genome, (-1, 3))
    )


def bounds(n_inputs: int, counts: Sequence[int] | None = None) -> tuple[Array, Array]:
    """Return the box of the genes; numbers of terms that are given stay."""
    low, high = np.tile([FEWEST - 0.499, 0.0, 0.5], n_inputs), np.tile([MOST + 0.499, 1.0, 1.5], n_inputs)
    if counts is not None:
        low[::3] = high[::3] = counts
    return low, high


def search_terms(
    inputs: Array,
    gains: Array,
    weight: Array,
    search: Search,
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    counts: Sequence[int] | None = None,
    prior: float = 1.0,
) -> TermChoice:
    """Return the linguistic terms with the smallest Phi; shapes are tried one after the other.

    Parameters
    ----------
    inputs : array [n, n_inputs]
    gains : array [n, n_gains]
    weight : array [n]
    search : callable
        ``search(evaluate, low, high)`` gives the best genome [n_genes]; `evaluate` takes genomes [n, n_genes] and gives
        Phi [n] of all inputs together. Genes of each input: number of terms, evenness, overlap. :func:`genetic` is one.
    shapes : sequence of str
    counts : sequence of int, optional
        Numbers of terms; left out, they are searched as well.
    prior : float
        As `prior_weight` of :class:`flcs.NetworkConfig`.
    """
    low, high = bounds(inputs.shape[1], counts)
    found: list[tuple[float, GridMeasure, tuple[Choice, ...]]] = []
    for shape in shapes:
        measure = GridMeasure(inputs, gains, weight, shape, prior)
        choices = _searched(measure, search, low, high)
        better = _one_by_one(measure, choices, counts)
        if [n for n, _, _ in better] != [n for n, _, _ in choices]:  # where other numbers lead, nobody has looked yet
            again = _searched(measure, search, *bounds(inputs.shape[1], [n for n, _, _ in better]))
            better = min(better, again, key=measure.phi)
        found.append((measure.phi(better), measure, better))
    phi, measure, terms = min(found, key=lambda one: one[0])
    information = measure.information(measure.variables(terms))
    return TermChoice(measure.shape, terms, phi, information, {m.shape: value for value, m, _ in found})


def _searched(measure: GridMeasure, search: Search, low: Array, high: Array) -> tuple[Choice, ...]:
    return decoded(np.clip(np.asarray(search(measure, low, high), dtype=float), low, high))


def _one_by_one(measure: GridMeasure, choices: tuple[Choice, ...], counts: Sequence[int] | None) -> tuple[Choice, ...]:
    """The best terms that changes of one input after the other lead to.

    Another number of terms asks for another evenness at once: a search that changes little at a time stays where it is.
    """
    best, phi, before = choices, measure.phi(choices), np.inf
    while phi < before:
        before = phi
        for k, (_, _, overlap) in enumerate(best):
            numbers = range(FEWEST, MOST + 1) if counts is None else (counts[k],)
            for n, evenness in product(numbers, _EVENNESS):
                trial = (*best[:k], (n, evenness, overlap), *best[k + 1 :])
                if (value := measure.phi(trial)) < phi:
                    best, phi = trial, value
    return best


def genetic(seed: int, generations: int = _GENERATIONS) -> Search:
    """Return the genetic search of control quality as a search over linguistic terms.

    Parameters
    ----------
    seed : int
    generations : int
    """
    from sscq.search.genetic import GeneticAlgorithm  # deap: slow to start
    from sscq.search.search import evolve

    method = GeneticAlgorithm(generations=generations)

    def search(evaluate: object, low: Array, high: Array) -> Array:
        return evolve(evaluate, low, high, method, seed).genome  # type: ignore[arg-type]  # a callable

    return search


def choose_terms(
    inputs: Array, gains: Array, weight: Array, *, shape: str = "triangular", evenness: float = 0.5
) -> list[Choice]:
    """Return number of terms, evenness and overlap of each input, looked at alone, with the smallest Phi.

    All numbers of terms are tried, with the given evenness and overlap 1.

    Parameters
    ----------
    inputs : array [n, n_inputs]
    gains : array [n, n_gains]
    weight : array [n]
    shape : str
    evenness : float
    """
    outputs = gain_terms(gains, weight)

    def phi(population: Population, x: Array, n: int) -> float:
        variable = population.variable("input", n, shape=shape, evenness=evenness)
        terms = np.stack(variable.memberships(x), axis=1)
        told = [mutual_information(terms, output, weight) for output in outputs]
        a, b, c = WEIGHTS
        return -a * term_entropy(variable, x, weight) - b * (float(np.mean(told)) if told else 0.0) + c * n / MOST

    found = []
    for x in inputs.T:
        population = Population(x, weight)
        values = {n: phi(population, x, n) for n in range(FEWEST, MOST + 1)}
        found.append((min(values, key=lambda n: values[n]), evenness, 1.0))
    return found
