"""Settings of learning: the search that makes the teaching signal, and the fuzzy neural network that learns from it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from configs.parts import SettingsPart, of, part
from controllers.settings import setting
from flcs.inference.output_sets import OutputSets, fewest_points
from flcs.learning.config import NetworkConfig as Network
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.teacher import Teacher

if TYPE_CHECKING:
    from collections.abc import Iterator


@part(
    Teacher,
    order="encoding gain_step most_steps pooling rounds window horizon continuations population shrink clairvoyant",
)
class TeacherConfig(SettingsPart):
    """The search that makes the teaching signal."""

    gain_step: list[float] | None = of(Teacher, default=None)
    pooling: str = setting(
        "rows",
        "weight of a taught situation in imitation: its rows as they are, the same for all, by 1 / J of fixed gains",
        choices=("rows", "equal", "reference"),
        advanced=True,
    )
    rounds: int = setting(
        1, "rounds of teaching; after the first, along the runs of the knowledge base of the round before", low=1
    )
    window: float | None = of(
        Teacher, default=None, text="time between two decisions; null: a fortieth of the shortest taught situation"
    )
    horizon: float | None = of(Teacher, default=None, text="how far ahead gains are judged; null: four windows")
    population: int = of(GeneticAlgorithm, default=24, text="individuals in the search of one window")


@part(
    Network,
    order="inputs terms centres shape mirrored common_terms form order implication aggregation defuzzifier "
    "output_width output_points rounds learning_rate prior_weight keep_firing max_rules merge_within choose_inputs "
    "max_inputs input_loss rule_loss",
)
class NetworkSettings(SettingsPart):
    """The fuzzy neural network and what is kept of it."""

    inputs: list[str] | None = of(
        Network,
        default=None,
        text="inputs of every channel: e, e_rate, z, and the plant's measurements by name; null: with one channel the "
        "two of e, e_rate and the output whose rules do best in a short search, else e, e_rate",
    )
    terms: int | None = of(Network)
    centres: dict[str, Any] = of(Network)
    mirrored: bool | None = of(
        Network,
        default=None,
        text="the same gains for an error and for its mirror image, half as many numbers; null: where the plant is odd "
        "and the inputs are e, e_rate, z",
    )
    implication: str = of(OutputSets)
    aggregation: str = of(OutputSets)
    defuzzifier: str = of(OutputSets)
    output_width: float = of(OutputSets, "width")
    output_points: int = of(OutputSets, "points")
    max_rules: int = of(Network)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the form of inference."""
        if self.form != "sugeno" and self.order != 0:
            yield f"order must be 0 with form {self.form}, got {self.order}; gains linear in the inputs are sugeno's"
        own = [f for f in fields(cast("Any", self)) if f.metadata["of"][0] is OutputSets]
        given = [f.name for f in own if getattr(self, f.name) != f.default]
        if self.form != "mamdani" and given:
            yield f"{given[0]} is a setting of form mamdani, got form {self.form}; leave it out or use form=mamdani"
        fewest = fewest_points(self.output_width)
        if self.form == "mamdani" and self.output_points < fewest:
            yield (
                f"output_points must be at least {fewest} for output_width {self.output_width:g}, got "
                f"{self.output_points}"
            )
