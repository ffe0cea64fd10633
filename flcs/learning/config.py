"""Settings of the fuzzy network: its structure, its training and what is kept of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controllers.settings import distinct, one_of
from flcs.inference.membership import SHAPES
from flcs.inference.norms import T_NORMS
from flcs.inference.rule_base import Inference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flcs.inference.output_sets import OutputSets

SEARCH = "search"


@dataclass(frozen=True)
class NetworkConfig:
    """Settings of :func:`flcs.design`.

    Attributes
    ----------
    inputs : tuple of str
        Of every channel: "e", "e_rate", "z" (error, its rate, its integral) or names of plant outputs.
    terms : int, tuple of int, or None
        Linguistic terms of each input, 2 .. 9. None: chosen by entropy and information, see
        :func:`flcs.learning.term_search.choose_terms`.
    centres : mapping of input to tuple of float
        Terms given by hand, as an expert names them [unit of the input], in every channel; such an input has as many
        terms as centres. Its range holds them and the data, within the measurement's own bounds. Inputs that are not
        named get terms from the data. Imitation with `rounds` above 0 and a search move them on from there.
    shape : {"triangular", "trapezoid", "gaussian", "bell", "search"}
        "search": the best of the others, see :func:`flcs.learning.term_search.search_terms`.
    overlap : float
        Widths of Gaussian terms and bells against those that cross at 1/2.
    evenness : float
        1: centres where every term is used equally often; 0: centres evenly over the range; between: mixed.
    t_norm : {"product", "minimum"}
    order : {0, 1}
        0: rules give constant gains; 1: linear in the inputs.
    prior_weight : float
        Pull of every rule towards the reference gains, in rows: as strong as that many rows of weight 1 that fire it
        fully. Teaching signals are noisy, and neighbouring rows are correlated: some rows' worth is sensible.
    smoothness : float
        Pull of neighbouring rules towards each other, in rows.
    ridge : float
        Added to the pull, so that the equations always have one solution.
    rounds : int
        Rounds of hybrid training: consequents by least squares, then steps on the terms. 0: terms stay.
    steps : int
        Gradient steps on the terms in a round.
    learning_rate : float
        Step of the terms, in halves of the range.
    patience : int
        Rounds without progress in the validation situations before training stops.
    validation_share : float
        Share of the situations kept for validation (one situation alone: terms stay as they are). 0: none, and all
        rounds run.
    firing : {"total", "maximum"}
        Which firing strength over the rows decides about a rule.
    keep_firing : float
        Share of the total firing strength that the kept rules carry.
    weakest_firing : float
        Rules with a smaller share of the total are dropped.
    max_rules : int, optional
        Most rules kept per channel.
    rule_loss : float
        Relative loss of the closed loop's fitness for which rules are left out; see
        :func:`flcs.refinement.rule_count.prune`.
    fallback, fade : float
        See :class:`flcs.Inference`.
    merge_within : float
        Rows of the teaching signal that differ by less become one, see :func:`flcs.learning.rows.merged`. 0: none.
    mirrored : bool
        The rule base is its own mirror image; for plants that are odd, see :mod:`flcs.knowledge_base.mirror`.
    common_terms : bool
        All channels read the same plant outputs by the same terms, see :mod:`flcs.inference.rule_base`.
    drop_inputs : bool
        Leave out inputs that tell nothing about the gains, by a permutation test.
    max_inputs : int, optional
        Most inputs of a channel; the least valuable in closed loop go, see
        :func:`flcs.refinement.input_choice.eliminate`.
    input_loss : float
        Relative loss of the closed loop's fitness for which an input is left out.
    form : {"sugeno", "mamdani", "tsukamoto"}
        See :class:`flcs.Inference`.
    output : OutputSets, optional
        Of Mamdani's form; left out, the usual ones.
    """

    inputs: tuple[str, ...] = ("e", "e_rate")
    terms: int | tuple[int, ...] | None = 3
    centres: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    shape: str = "triangular"
    overlap: float = 1.0
    evenness: float = 0.5
    t_norm: str = "product"
    order: int = 0
    prior_weight: float = 1.0
    smoothness: float = 0.1
    ridge: float = 1e-9
    rounds: int = 40
    steps: int = 3
    learning_rate: float = 0.01
    patience: int = 8
    validation_share: float = 0.25
    firing: str = "total"
    keep_firing: float = 0.99
    weakest_firing: float = 1e-3
    max_rules: int | None = 25
    rule_loss: float = 0.005
    fallback: float = 0.5
    fade: float = 1.0
    merge_within: float = 0.0
    mirrored: bool = False
    common_terms: bool = False
    drop_inputs: bool = False
    max_inputs: int | None = None
    input_loss: float = 0.005
    form: str = "sugeno"
    output: OutputSets | None = None

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "inputs", distinct("inputs", self.inputs))
        one_of("shape of terms", self.shape, (*SHAPES, SEARCH))
        one_of("t-norm", self.t_norm, tuple(T_NORMS))
        one_of("firing strength", self.firing, ("total", "maximum"))
        self.inference()
        given = {name: tuple(float(c) for c in centres) for name, centres in self.centres.items()}
        object.__setattr__(self, "centres", given)
        if unknown := [name for name in given if name not in self.inputs]:
            raise ValueError(f"centres are given for {unknown[0]!r}, which is none of the inputs {self.inputs}")
        chosen = self.terms is None and set(self.centres) != set(self.inputs)
        if self.common_terms and (chosen or self.shape == SEARCH or self.drop_inputs or self.max_inputs):
            raise ValueError(
                "common_terms need a number of terms, a shape, and all inputs kept: choosing them goes by each "
                "channel's own gains; leave terms=None, shape='search', drop_inputs and max_inputs out"
            )
        if isinstance(self.terms, (list, tuple)):
            object.__setattr__(self, "terms", tuple(self.terms))
            if len(self.terms) != len(self.inputs):
                raise ValueError(f"terms must be one number, or one per input {self.inputs}, got {self.terms}")
        _between("prior_weight smoothness rule_loss input_loss", self, 0.0, math.inf)
        _between("ridge learning_rate overlap fallback fade", self, 0.0, math.inf, open_low=True)
        _between("evenness weakest_firing merge_within", self, 0.0, 1.0)
        _between("keep_firing", self, 0.0, 1.0, open_low=True)
        _between("rounds steps patience", self, 0, 10**6)
        _between("validation_share", self, 0.0, 0.9)
        for name in ("max_rules", "max_inputs"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1 or None, got {getattr(self, name)}")

    def inference(self) -> Inference:
        """Return how firing strengths become gains."""
        return Inference(self.t_norm, self.order, self.fallback, self.fade, form=self.form, output=self.output)

    def counts(self, n_inputs: int) -> tuple[int, ...] | None:
        """Return the number of terms of each input; None where they are to be chosen."""
        return (self.terms,) * n_inputs if isinstance(self.terms, int) else self.terms


def _between(names: str, config: NetworkConfig, low: float, high: float, *, open_low: bool = False) -> None:
    for name in names.split():
        value = getattr(config, name)
        if not low <= value <= high or (open_low and value == low) or math.isinf(value):
            raise ValueError(f"{name} must be in {'(' if open_low else '['}{low}, {high}], got {value}")
