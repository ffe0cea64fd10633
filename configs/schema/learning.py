"""Settings of learning: the search that makes the teaching signal, and the fuzzy neural network that learns from it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from configs.parts import Part, of, part
from controllers.settings import setting
from plants.core.names import did_you_mean
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.teacher import Teacher

if TYPE_CHECKING:
    from collections.abc import Iterator


@part(
    Teacher,
    order="encoding gain_step most_steps pooling rounds window horizon continuations population shrink clairvoyant",
)
class TeacherConfig(Part):
    """The search that makes the teaching signal."""

    gain_step: list[float] | None = of(Teacher, default=None)
    pooling: str = setting(
        "rows",
        "weight of a taught situation in imitation: its rows as they are, the same for all, by 1 / J of fixed gains",
        choices=("rows", "equal", "reference"),
    )
    rounds: int = setting(
        1, "rounds of teaching; after the first, along the runs of the knowledge base of the round before", low=1
    )
    window: float | None = of(
        Teacher, default=None, text="time between two decisions; null: a fortieth of the shortest taught situation"
    )
    horizon: float | None = of(Teacher, default=None, text="how far ahead gains are judged; null: four windows")
    population: int = of(GeneticAlgorithm, default=24, text="individuals in the search of one window")


_OWN = ("e", "e_rate", "z")
_OF_MAMDANI = ("implication", "aggregation", "defuzzifier", "output_width", "output_points")


@dataclass
class NetworkConfig:
    """The fuzzy neural network and what is kept of it."""

    inputs: list[str] = setting(
        lambda: ["e", "e_rate"], "inputs of every channel: e, e_rate, z, and the plant's measurements by name"
    )
    terms: int | None = setting(3, "linguistic terms an input; null: searched for each", low=2, high=9)
    centres: dict[str, Any] = setting(
        dict,
        "terms given by hand, {input: [centres]} in the input's unit, in every channel; their number is that of the "
        "input's terms; training (not with rounds 0) and search move them on; {}: all from the teaching signal",
    )
    shape: str = setting(
        "triangular",
        "membership functions; search: the shape that tells most about the gains",
        choices=("triangular", "trapezoid", "gaussian", "bell", "search"),
    )
    mirrored: bool = setting(
        False, "the same gains for an error and for its mirror image: half as many numbers; for odd plants"
    )
    common_terms: bool = setting(
        False,
        "all channels read the same terms, of measurements alone: their gains move together, and margins are demanded "
        "of these together, not of mixtures that no value of an input gives",
    )
    form: str = setting(
        "sugeno",
        "form of inference: a rule gives numbers (sugeno), fuzzy sets around them (mamdani), or sets that rise from "
        "the reference gains to them (tsukamoto)",
        choices=("sugeno", "mamdani", "tsukamoto"),
    )
    order: int = setting(
        0, "rules give constant gains (0), or with form sugeno gains linear in the inputs (1)", low=0, high=1
    )
    implication: str = setting(
        "minimum", "mamdani: a rule cuts its output set off (minimum) or scales it", choices=("minimum", "product")
    )
    aggregation: str = setting(
        "sum",
        "mamdani: how the rules' sets are joined; the centroid of the maximum is taken on a grid and is slow",
        choices=("sum", "maximum"),
    )
    defuzzifier: str = setting(
        "centroid", "mamdani: from the joined sets to a gain", choices=("centroid", "centre_average")
    )
    output_width: float = setting(
        0.25, "mamdani: half of an output set's base, as a share of the gain's box", above=0, high=1
    )
    output_points: int = setting(65, "mamdani: points of the grid for the centroid of a maximum", low=7, high=1001)
    rounds: int = setting(40, "rounds of hybrid training", low=0)
    learning_rate: float = setting(0.01, "step of the premises' gradient descent, in halves of the range", above=0)
    prior_weight: float = setting(1.0, "pull of every rule towards the reference gains, in rows", low=0)
    keep_firing: float = setting(0.99, "share of the total firing strength that the kept rules carry", above=0, high=1)
    max_rules: int = setting(25, "most rules kept", low=1)
    merge_within: float = setting(
        0.0, "rows of the teaching signal that differ by less, in shares of their ranges, become one", low=0, high=1
    )
    choose_inputs: bool = setting(
        False, "leave out inputs that tell nothing about the gains or that the closed loop does not need"
    )
    max_inputs: int | None = setting(
        None, "most inputs of a channel, the least valuable in closed loop go; null: no limit", low=1
    )
    input_loss: float = setting(
        0.005, "relative loss of closed-loop fitness that fewer inputs may cost, taught and validation", low=0
    )
    rule_loss: float = setting(
        0.005, "relative loss of closed-loop fitness that fewer rules may cost, taught and validation", low=0
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        yield from self._complaints_of_centres()
        yield from self._complaints_of_common_terms()
        if self.form != "sugeno" and self.order != 0:
            yield f"order must be 0 with form {self.form}, got {self.order}; gains linear in the inputs are sugeno's"
        given = [f.name for f in fields(self) if f.name in _OF_MAMDANI and getattr(self, f.name) != f.default]
        if self.form != "mamdani" and given:
            yield f"{given[0]} is a setting of form mamdani, got form {self.form}; leave it out or use form=mamdani"
        fewest = math.ceil(2.0 * (1.0 + 2.0 * self.output_width) / self.output_width) + 1
        if self.form == "mamdani" and self.output_points < fewest:
            yield (
                f"output_points must be at least {fewest} for output_width {self.output_width:g}, got "
                f"{self.output_points}"
            )

    def _complaints_of_centres(self) -> Iterator[str]:
        for name, centres in self.centres.items():
            if name not in self.inputs:
                near = did_you_mean(name, self.inputs)
                yield f"centres: {name!r} is none of the inputs {', '.join(self.inputs)}{near}"
            if not _rising(centres):
                yield f"centres: {name!r} needs 2 to 9 finite numbers that increase, got {centres}"
            elif self.mirrored and centres != [-c for c in reversed(centres)]:
                yield f"centres: {name!r} must be its own mirror image with mirrored, got {centres}"

    def _complaints_of_common_terms(self) -> Iterator[str]:
        if not self.common_terms:
            return
        if own := [name for name in self.inputs if name in _OWN]:
            yield f"common_terms need inputs that all channels share, measurements; {own[0]} is each channel's own"
        chosen = {
            "terms=null": self.terms is None and set(self.inputs) != set(self.centres),
            "shape=search": self.shape == "search",
            "choose_inputs": self.choose_inputs,
            "max_inputs": self.max_inputs is not None,
        }
        for word in (word for word, true in chosen.items() if true):
            yield f"{word} chooses by each channel's own gains, common_terms need the same terms in all; leave one out"


def _rising(centres: Any) -> bool:
    """2 to 9 finite numbers, each above the one before."""
    if not isinstance(centres, list) or not 2 <= len(centres) <= 9:
        return False
    numbers = all(isinstance(c, int | float) and math.isfinite(c) for c in centres)
    return numbers and all(a < b for a, b in itertools.pairwise(centres))
