"""Settings of the searches: method, budget, and what else is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUNDING = 1e-9


@dataclass
class SearchConfig:
    """The search of every candidate: the genetic algorithm explores, CMA-ES polishes.

    Fields as in `sscq.GeneticAlgorithm`.
    """

    method: str = setting(
        "both",
        "genetic algorithm, CMA-ES, one after the other, or differential evolution",
        choices=("both", "genetic", "cmaes", "differential_evolution"),
    )
    population: int | None = setting(None, "individuals; null: by the number of genes", low=4)
    tournament: int = setting(3, "individuals compared in a selection", low=1)
    crossover: str = setting("sbx", "simulated binary or blend crossover", choices=("sbx", "blend"))
    p_crossover: float = setting(0.9, "share of the pairs that are crossed", low=0, high=1)
    eta_crossover: float = setting(15.0, "index of simulated binary crossover; larger: nearer to the parents", above=0)
    alpha: float = setting(0.3, "widening of blend crossover", above=0)
    p_mutation: float | None = setting(None, "probability that a gene mutates; null: 1 / genes", low=0, high=1)
    eta_mutation: float = setting(20.0, "index of polynomial mutation; larger: smaller moves", above=0)
    elite: int = setting(2, "best individuals kept unchanged", low=1)
    stall_generations: int | None = setting(15, "stop after so many generations without progress; null: go on", low=1)
    stall_tolerance: float = setting(1e-3, "relative change that counts as progress", low=0)
    tries: int = setting(
        2, "searches of a knowledge base, from the imitated rules and from the reference gains in turn; they share its "
        "budget, the validation situations choose", low=1
    )  # fmt: skip
    anchor_share: float = setting(
        0.1, "most share of a knowledge base's evaluations for reference gains inside the margins, where the fixed PID "
        "lies on their limit; 0: the fixed PID's", low=0, below=0.5
    )  # fmt: skip
    coarse_share: float = setting(
        0.3, "most share of a knowledge base's evaluations for gains over one input alone, where the search of all "
        "rules then starts; 0: none", low=0, below=0.5
    )  # fmt: skip
    scatter_share: float = setting(
        0.0, "share of a knowledge base's evaluations for random gains in one region of its rules at a time, the best "
        "of which are starts, too; 0: none", low=0, below=0.9
    )  # fmt: skip
    region_share: float = setting(
        0.0, "share of a knowledge base's evaluations for searches of the gains of one region of its rules at a time, "
        "all others as in the best so far; 0: none", low=0, below=0.9
    )  # fmt: skip
    renew_every: int | None = setting(
        None, "generations between new noise, the same for all individuals; null: the declared seeds throughout", low=1
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        spent = self.anchor_share + self.coarse_share + self.scatter_share + self.region_share
        if spent >= 1.0 - _ROUNDING:
            yield (
                f"anchor_share + coarse_share + scatter_share + region_share must be below 1, got {spent:g}: nothing "
                "of the evaluations is left to search all rules; lower one of them"
            )


@dataclass
class LadderConfig:
    """Controllers of other schools, judged beside the knowledge base."""

    further: list[str] = setting(
        list,
        "gain table by margin design; hand-made 7x7 fuzzy PID; state feedback on all states (upper reference); "
        "knowledge base without imitation",
        choices=("all", "margin_table", "hand_made", "lqi", "direct"),
    )


@dataclass
class BudgetConfig:
    """How much computing a design may use; the same for all compared controllers."""

    evaluations: int = setting(20000, "closed-loop evaluations of every candidate of the ladder", low=60)
    teacher_generations: int = setting(6, "generations in the search of one window of the teaching signal", low=1)
    verdict_seeds: int = setting(20, "seeds of each unforeseen situation in the verdict", low=1)
    repeat_taught: bool = setting(
        False, "judge the taught situations, too, with all seeds of the verdict, the searched ones first"
    )
