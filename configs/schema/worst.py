"""Settings of the search for the worst situation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from configs.rules import setting
from configs.schema.controller import PresentConfig
from configs.schema.run import RunConfig

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class EnvelopeConfig:
    """Ranges of what situations may be; fields as in `sscq.Envelope`."""

    usual: bool = setting(True, "ranges not given are the plant's usual ones; false: what is not given does not vary")
    parameters: dict[str, Any] = setting(dict, "ranges of plant parameters: {mu: [0.5, 2]}")
    initial: dict[str, Any] = setting(dict, "ranges of initial states")
    reference: dict[str, Any] = setting(dict, "ranges of the reference of each controlled output")
    kinds: list[str] = setting(lambda: ["step"], "how the reference gets there", choices=("step", "ramp", "sine"))
    load: dict[str, Any] = setting(dict, "ranges of steps of the disturbances at half the horizon")
    excitation: dict[str, Any] = setting(dict, "ranges of the standard deviation of disturbing white noise")
    noise: dict[str, Any] = setting(dict, "ranges of the standard deviation of sensor noise")
    delay: list[float] | None = setting(None, "range of the command's delay [low, high]", unit="s", low=0)
    authority: list[float] | None = setting(
        None, "range of the share of the command limits that actuators have", above=0
    )
    rate_limit: list[float] | None = setting(None, "range of the actuators' largest speed", unit="1/s", above=0)
    delay_step: float | None = setting(None, "between neighbouring delays; null: usual", unit="s", above=0)
    hold: float | None = setting(None, "time that white noise is held; null: usual", unit="s", above=0)
    t_end: float | None = setting(None, "horizon; null: usual", unit="s", above=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with a range."""
        groups = ("parameters", "initial", "reference", "load", "excitation", "noise")
        ranges = {f"{group}.{name}": ends for group in groups for name, ends in getattr(self, group).items()}
        ranges |= {name: getattr(self, name) or [0.0, 0.0] for name in ("delay", "authority", "rate_limit")}
        for name, ends in ranges.items():
            if not _is_range(ends):
                yield f"{name} must be [low, high] with low <= high, got {ends}"


def _is_range(ends: object) -> bool:
    """Whether these are two numbers in order; OmegaConf takes no whole numbers in a mapping to lists of floats."""
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    numbers = [end for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
    return len(numbers) == 2 and numbers[0] <= numbers[1]


@dataclass
class WorstConfig(RunConfig):
    """`sscq worst`: the worst situation of a stored knowledge base in a declared envelope."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")  # type: ignore[assignment]  # as EvaluateConfig
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    judged: str = setting(
        "knowledge_base", "whose worst situation; own: controller.own_gains",
        choices=("knowledge_base", "reference", "own"),
    )  # fmt: skip
    against: str = setting(
        "cost",
        "what is largest: the cost itself, or the loss against the reference gains",
        choices=("cost", "reference"),
    )
    fail_above: float | None = setting(None, "a cost above this is a failure; null: only a rollout that diverges is")
    evaluations: int = setting(2000, "situations simulated by the search, and as many drawn at random", low=20)
    population: int | None = setting(None, "individuals of the genetic search; null: by the number of genes", low=4)
    polish: float = setting(0.25, "share of the evaluations that CMA-ES spends around the worst", low=0, high=1)
    confidence: float = setting(0.95, "of the bound on the failure probability", above=0, below=1)
    envelope: EnvelopeConfig = setting(EnvelopeConfig, "")
    controller: PresentConfig = setting(PresentConfig, "")
