"""Settings of the fuzzy network: its structure, its training and what is kept of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from controllers.settings import check, distinct, setting
from flcs.inference.membership import SHAPES
from flcs.inference.norms import T_NORMS
from flcs.inference.rule_base import FORMS, OWN_INPUTS, Inference
from plants.core.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flcs.inference.output_sets import OutputSets

SEARCH = "search"
MOST_TERMS = 9


USUAL_INPUTS = ("e", "e_rate")
"""Of a channel, where nobody names others."""


@dataclass(frozen=True)
class NetworkConfig:
    """Settings of :func:`flcs.design`.

    Attributes
    ----------
    terms : int, tuple of int, or None
        Of each input. None: chosen by entropy and information, see :mod:`flcs.learning.term_search`.
    centres : mapping of input to tuple of float
        As an expert names them; such an input has as many terms as centres. Its range holds them and the data, within
        the measurement's own bounds. Inputs that are not named get terms from the data.
    shape : {"triangular", "trapezoid", "gaussian", "bell", "search"}
        "search": see :func:`flcs.learning.term_search.search_terms`.
    prior_weight : float
        As strong as that many rows of weight 1 that fire a rule fully. Teaching signals are noisy, and neighbouring
        rows are correlated: some rows' worth is sensible.
    validation_share : float
        One situation alone: terms stay as they are. 0: none, and all rounds run.
    max_rules : int, optional
        Of a channel.
    rule_loss : float
        See :func:`flcs.refinement.rule_count.prune`.
    fallback, fade, form
        See :class:`flcs.Inference`.
    merge_within : float
        See :func:`flcs.learning.rows.merged`. 0: none.
    mirrored : bool
        See :mod:`flcs.knowledge_base.mirror`.
    common_terms : bool
        See :mod:`flcs.inference.rule_base`.
    choose_inputs : bool
        By a permutation test, and in closed loop by `input_loss`.
    max_inputs : int, optional
        See :func:`flcs.refinement.input_choice.eliminate`.
    output : OutputSets, optional
        Of Mamdani's form; left out, the usual ones.

    Raises
    ------
    ValueError
        For a setting outside its range, or settings that contradict each other.
    """

    inputs: tuple[str, ...] = setting(
        USUAL_INPUTS, "inputs of every channel: e, e_rate, z, and the plant's measurements by name"
    )
    terms: int | tuple[int, ...] | None = setting(
        3, "linguistic terms an input; null: searched for each", low=2, high=MOST_TERMS
    )
    centres: Mapping[str, tuple[float, ...]] = setting(
        dict,
        "terms given by hand, {input: [centres]} in the input's unit, in every channel; their number is that of the "
        "input's terms; training (not with rounds 0) and search move them on; {}: all from the teaching signal",
    )
    shape: str = setting(
        "triangular",
        "membership functions; search: the shape that tells most about the gains",
        choices=(*SHAPES, SEARCH),
    )
    overlap: float = setting(1.0, "widths of Gaussian terms and bells against those that cross at 1/2", above=0)
    evenness: float = setting(
        0.5, "1: centres where every term is used equally often; 0: evenly over the range", low=0, high=1
    )
    t_norm: str = setting("product", "how the terms of a rule are joined", choices=tuple(T_NORMS))
    order: int = setting(
        0, "rules give constant gains (0), or with form sugeno gains linear in the inputs (1)", low=0, high=1
    )
    prior_weight: float = setting(1.0, "pull of every rule towards the reference gains, in rows", low=0, advanced=True)
    smoothness: float = setting(0.1, "pull of neighbouring rules towards each other, in rows", low=0)
    ridge: float = setting(1e-9, "added to the pull, so that the equations always have one solution", above=0)
    rounds: int = setting(40, "rounds of hybrid training", low=0)
    steps: int = setting(3, "gradient steps on the terms in a round", low=0)
    learning_rate: float = setting(
        0.01, "step of the premises' gradient descent, in halves of the range", above=0, advanced=True
    )
    patience: int = setting(8, "rounds without progress in the validation situations before training stops", low=0)
    validation_share: float = setting(0.25, "share of the situations kept for validation", low=0, high=0.9)
    firing: str = setting(
        "total", "which firing strength over the rows decides about a rule", choices=("total", "maximum")
    )
    keep_firing: float = setting(
        0.99, "share of the total firing strength that the kept rules carry", above=0, high=1, advanced=True
    )
    weakest_firing: float = setting(1e-3, "rules with a smaller share of the total are dropped", low=0, high=1)
    max_rules: int | None = setting(25, "most rules kept", low=1)
    rule_loss: float = setting(
        0.005, "relative loss of closed-loop fitness that fewer rules may cost, taught and validation", low=0
    )
    fallback: float = setting(0.5, "firing strength below which the reference gains come in", above=0)
    fade: float = setting(1.0, "how far from its terms' ends an input fades out", above=0)
    merge_within: float = setting(
        0.0,
        "rows of the teaching signal that differ by less, in shares of their ranges, become one",
        low=0,
        high=1,
        advanced=True,
    )
    mirrored: bool = setting(
        False, "the same gains for an error and for its mirror image: half as many numbers; for odd plants"
    )
    common_terms: bool = setting(
        False,
        "all channels read the same terms, of measurements alone: their gains move together, and certificates are of "
        "these together, not of mixtures that no value of an input gives",
    )
    choose_inputs: bool = setting(
        False, "leave out inputs that tell nothing about the gains or that the closed loop does not need"
    )
    max_inputs: int | None = setting(
        None, "most inputs of a channel, the least valuable in closed loop go; null: no limit", low=1
    )
    input_loss: float = setting(
        0.005,
        "relative loss of closed-loop fitness that fewer inputs may cost, taught and validation",
        low=0,
        advanced=True,
    )
    form: str = setting(
        "sugeno",
        "form of inference: a rule gives numbers (sugeno), fuzzy sets around them (mamdani), or sets that rise from "
        "the reference gains to them (tsukamoto)",
        choices=FORMS,
    )
    output: OutputSets | None = None

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "inputs", distinct("inputs", self.inputs))
        given = {name: tuple(float(c) for c in centres) for name, centres in self.centres.items()}
        object.__setattr__(self, "centres", given)
        check(self, "network")
        self.inference()
        if isinstance(self.terms, (list, tuple)):
            object.__setattr__(self, "terms", tuple(self.terms))
            if len(self.terms) != len(self.inputs):
                raise ValueError(f"terms must be one number, or one per input {self.inputs}, got {self.terms}")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        inputs = self.inputs or USUAL_INPUTS  # a design's settings may leave them open
        for name, centres in self.centres.items():
            if name not in inputs:
                near = did_you_mean(name, inputs)
                yield f"centres: {name!r} is none of the inputs {', '.join(inputs)}{near}"
            if not _rising(centres):
                yield f"centres: {name!r} needs 2 to {MOST_TERMS} finite numbers that increase, got {centres}"
            elif self.mirrored and list(centres) != [-c for c in reversed(centres)]:
                yield f"centres: {name!r} must be its own mirror image with mirrored, got {centres}"
        if not self.common_terms:
            return
        if own := [name for name in inputs if name in OWN_INPUTS]:
            yield f"common_terms need inputs that all channels share, measurements; {own[0]} is each channel's own"
        chosen = {
            "terms=null": self.terms is None and set(inputs) != set(self.centres),
            "shape=search": self.shape == SEARCH,
            "choose_inputs": self.choose_inputs,
            "max_inputs": self.max_inputs is not None,
        }
        for word in (word for word, true in chosen.items() if true):
            yield f"{word} chooses by each channel's own gains, common_terms need the same terms in all; leave one out"

    def inference(self) -> Inference:
        """Return how firing strengths become gains."""
        return Inference(self.t_norm, self.order, self.fallback, self.fade, form=self.form, output=self.output)

    def counts(self, n_inputs: int) -> tuple[int, ...] | None:
        """Return the number of terms of each input; None where they are to be chosen."""
        return (self.terms,) * n_inputs if isinstance(self.terms, int) else self.terms


def _rising(centres: object) -> bool:
    """2 to 9 finite numbers, each above the one before."""
    if not isinstance(centres, list | tuple) or not 2 <= len(centres) <= MOST_TERMS:
        return False
    numbers = all(isinstance(c, int | float) and math.isfinite(c) for c in centres)
    return numbers and all(a < b for a, b in pairwise(centres))
