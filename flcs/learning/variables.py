"""From the rows of a teaching signal to the linguistic variables of a channel: which inputs, which terms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flcs.inference.membership import SHAPES
from flcs.inference.rule_base import OWN_INPUTS
from flcs.inference.variable import SMALLEST_GAP
from flcs.knowledge_base.mirror import mirrored_variable
from flcs.learning.config import SEARCH, NetworkConfig
from flcs.learning.information import informative_inputs
from flcs.learning.rows import column_of
from flcs.learning.term_search import choose_terms, genetic, search_terms
from flcs.learning.terms import Population, apart, bounds_of, given_variable, true_centres, widened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flcs.inference.variable import Variable
    from flcs.learning.information import Array, Search
    from flcs.learning.rows import TeachingRows
    from flcs.learning.term_search import Choice
    from plants import Plant


@dataclass(frozen=True)
class Variables:
    """Linguistic variables of a channel and how they were chosen.

    Attributes
    ----------
    inputs : tuple of Variable
    record : mapping
        Plain data: of the permutation test under "information", of the search over terms under "terms"; empty where
        nothing was chosen.
    """

    inputs: tuple[Variable, ...]
    record: dict[str, Any] = field(default_factory=dict)


def variables(
    rows: TeachingRows,
    channel: int,
    gains: Sequence[int],
    config: NetworkConfig,
    seed: int,
    search: Search | None = None,
    plant: Plant | str = "",
    seen: Mapping[str, tuple[float, float]] | None = None,
) -> Variables:
    """Return the linguistic variables of a channel.

    Parameters
    ----------
    rows : TeachingRows
    channel : int
    gains : sequence of int
        Columns of the channel's gains.
    config : NetworkConfig
    seed : int
        Of permutation tests, and of the search where none is given.
    search : callable, optional
        See :func:`flcs.learning.term_search.search_terms`.
    plant : Plant, or its name
        A plant also gives the inputs' units.
    seen : mapping of input to (low, high), optional
        What a closed loop has met: ranges hold at least this, widened as the rows' are.
    """
    x = rows.inputs[:, [column_of(rows.input_names, name, channel) for name in config.inputs]]
    taught, record = rows.gains[:, list(gains)], {}
    kept = list(range(len(config.inputs)))
    if config.choose_inputs:
        kept, information, threshold = informative_inputs(x, taught, rows.weight, rows.situation, seed)
        record["information"] = {
            name: {"information": float(i), "threshold": float(t), "kept": k in kept}
            for k, (name, i, t) in enumerate(zip(config.inputs, information, threshold, strict=True))
        }
    free = [k for k in kept if config.inputs[k] not in config.centres]
    shape, choices, found = _terms(x[:, free], taught, rows.weight, config, free, search, seed)
    chosen, choice_of = [], dict(zip(free, choices, strict=True))
    for k in kept:
        name, met = config.inputs[k], (seen or {}).get(config.inputs[k])
        unit = unit_of(plant, channel, name)
        if k not in choice_of:
            own = given_variable(
                name, config.centres[name], x[:, k], unit=unit, shape=shape, overlap=config.overlap, seen=met,
                bounds=bounds_of(plant, name), mirrored=config.mirrored,
            )  # fmt: skip
            chosen.append(replace(mirrored_variable(own), labels=()) if config.mirrored else own)
            continue
        n_terms, evenness, overlap = choice_of[k]
        population = Population(x[:, k], rows.weight)
        own = population.variable(name, n_terms, unit=unit, shape=shape, evenness=evenness, overlap=overlap)
        chosen.append(_reaching(own, met, mirrored=config.mirrored))
    return Variables(tuple(chosen), record | found)


def _reaching(variable: Variable, seen: tuple[float, float] | None, *, mirrored: bool) -> Variable:
    """The variable with a range that holds what was seen, its own mirror image if asked for; terms stay.

    Where they would be nearer to one another than a variable of that range allows, they are drawn apart.
    """
    if seen is not None:
        low, high = widened(*seen)
        low, high = min(variable.low, low), max(variable.high, high)
        widths = tuple(max(width, SMALLEST_GAP * (high - low)) for width in variable.widths)
        centres = apart(variable.centres, low, high)
        centres = true_centres(centres, low, high) if variable.signed else centres
        variable = replace(variable, low=low, high=high, centres=centres, widths=widths)
    return replace(mirrored_variable(variable), labels=()) if mirrored else variable


def _terms(
    x: Array, taught: Array, weight: Array, config: NetworkConfig, kept: Sequence[int], search: Search | None, seed: int
) -> tuple[str, Sequence[Choice], dict[str, Any]]:
    """Shape, terms of every kept input, and what a search has to tell."""
    counts = config.counts(len(config.inputs))
    given = None if counts is None else [counts[k] for k in kept]
    if not kept:  # all terms are given by hand; a shape that was to be searched for them is the usual one
        return NetworkConfig.shape if config.shape == SEARCH else config.shape, [], {}
    if config.shape != SEARCH and given is not None:
        return config.shape, [(n, config.evenness, config.overlap) for n in given], {}
    if config.shape != SEARCH and search is None:
        return config.shape, choose_terms(x, taught, weight, shape=config.shape, evenness=config.evenness), {}
    shapes = tuple(SHAPES) if config.shape == SEARCH else (config.shape,)
    found = search_terms(
        x, taught, weight, search or genetic(seed), shapes=shapes, counts=given, prior=config.prior_weight
    )
    names = [config.inputs[k] for k in kept]
    told = {
        "shape": found.shape, "phi": found.phi, "information": found.information, "tried": found.tried,
        "inputs": {
            name: {"terms": n, "evenness": evenness, "overlap": overlap}
            for name, (n, evenness, overlap) in zip(names, found.terms, strict=True)
        },
    }  # fmt: skip
    return found.shape, found.terms, {"terms": told}


def unit_of(plant: Plant | str, channel: int, name: str) -> str:
    """Return the unit of an input of a channel's rules; empty where only the plant's name is known."""
    if isinstance(plant, str):
        return ""
    output = name if name not in OWN_INPUTS else plant.channels[channel].output
    unit = plant.measurements[plant.index("measurements", output)].unit
    return {"e_rate": f"{unit}/s", "z": f"{unit} s"}.get(name, unit)
