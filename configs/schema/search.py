"""Settings of the searches: what is minimised, by which method and budget, and what is traded off.

Also which controllers of other schools are judged beside the knowledge base.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.parts import SettingsPart, of, part
from controllers.settings import setting
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.search.genetic import GeneticAlgorithm

if TYPE_CHECKING:
    from collections.abc import Iterator


@part(
    Fitness,
    order="kind tolerance error error_weight entropy_weight travel_weight effort_weight own_measures own_limits "
    "limits_first relative aggregate kappa share travel_share travel_limit error_share saturation_limit "
    "max_sensitivity max_transient_sensitivity margins_of min_delay_margin",
)
class FitnessConfig(SettingsPart):
    """What the search minimises, and the margins that gains must keep."""

    relative: bool = setting(True, "divide each term by the reference controller's", advanced=True)
    travel_share: float = setting(
        1.0,
        "actuator travel that schedules may have when taught, as a share of the fixed PID's",
        above=0,
        advanced=True,
    )
    travel_limit: float | None = of(Fitness, low=-math.inf, above=0)
    error_share: float | None = setting(
        1.0,
        "mean tracking error that schedules may have when taught, as a share of the fixed PID's; null: free",
        above=0,
        advanced=True,
    )
    max_sensitivity: float | None = of(
        MarginLimits, "sensitivity", default=1.8, text="largest Ms at the operating points; null: no margins asked"
    )
    max_transient_sensitivity: float = of(MarginLimits, "transient", advanced=True)
    margins_of: str = setting(
        "taught",
        "which plants and delays keep the margins: those of all taught situations, or of the first one alone",
        choices=("taught", "first"),
        advanced=True,
    )
    min_delay_margin: float = of(MarginLimits, "delay_margin")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.max_sensitivity is None and self.min_delay_margin > 0.0:
            yield (
                f"min_delay_margin = {self.min_delay_margin} s is kept together with max_sensitivity, which is null; "
                "give one, if a generous one such as 10"
            )


@part(
    GeneticAlgorithm,
    order="method population tournament crossover p_crossover eta_crossover alpha p_mutation eta_mutation elite "
    "stall_generations stall_tolerance tries renew_every",
)
class SearchConfig(SettingsPart):
    """The search of every candidate: the genetic algorithm explores, gradient descent polishes."""

    method: str = setting(
        "gradient",
        "the genetic algorithm and then gradient descent (CMA-ES where the loop has no slopes), the genetic algorithm "
        "and then CMA-ES, one of them alone, or differential evolution",
        choices=("gradient", "both", "genetic", "cmaes", "differential_evolution"),
    )
    tries: int = setting(
        1, "searches of a knowledge base, from the imitated rules and from the reference gains in turn; they share its "
        "budget, the validation situations choose", low=1
    )  # fmt: skip


@dataclass
class LadderConfig:
    """Controllers of other schools, judged beside the knowledge base."""

    further: list[str] = setting(
        lambda: ["direct"],
        "gain table by margin design; hand-made 7x7 fuzzy PID; state feedback on all states (upper reference); "
        "knowledge base without imitation, which tells what the network is worth",
        choices=("all", "margin_table", "hand_made", "lqi", "direct"),
    )


@dataclass
class BudgetConfig:
    """How much computing a design may use; the same for all compared controllers."""

    evaluations: int = setting(
        6000,
        "closed-loop evaluations of every candidate of the ladder; 3000 and more are spent in rounds of searches, 1500 "
        "in the first, three times as many in each later one",
        low=60,
    )
    teacher_generations: int = setting(
        6, "generations in the search of one window of the teaching signal", low=1, advanced=True
    )
    verdict_seeds: int = setting(20, "seeds of each unforeseen situation in the verdict", low=1)
    repeat_taught: bool = setting(
        False, "judge the taught situations, too, with all seeds of the verdict, the searched ones first", advanced=True
    )


FEWEST_TRIALS = 20  # of a search for the worst case


@dataclass
class AssuranceConfig:
    """What is asked of the recommended controller beside the verdict's rollouts."""

    certificate: bool = setting(
        True,
        "look for a Lyapunov function that all gains of a schedule share at the operating points; of fixed gains: "
        "whether each loop is stable",
    )
    authority: str = setting(
        "margins",
        "how far rules move the gains: as far as the margins are kept, or (certified) also no farther than a Lyapunov "
        "function is found for, or (required) wherever the search finds rules that have one",
        choices=("margins", "certified", "required"),
    )
    worst_evaluations: int = setting(
        400,
        "situations simulated in the search for the worst one of the declared ranges, and as many drawn; 0: none",
        low=0,
    )
    map_points: int = setting(
        24,
        "in each direction of the map over the two declared ranges that change J of the fixed gains most; 0: none",
        low=0,
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the number of situations."""
        if 0 < self.worst_evaluations < FEWEST_TRIALS:
            yield f"worst_evaluations must be 0, or at least {FEWEST_TRIALS}, got {self.worst_evaluations}"
        if self.map_points == 1:
            yield "map_points must be 0, or at least 2, got 1"


@dataclass
class FrontConfig:
    """The trade-off front beside the ladder: tracking error against entropy and travel, by non-dominated sorting."""

    of: str = setting(
        "none",
        "whose front is searched; rivals: laws of the plant's own field; all: gains, knowledge base and rivals; "
        "from_plant: gains and knowledge base where the plant declares a trade-off, else none",
        choices=("none", "from_plant", "fixed", "fixed_and_knowledge_base", "fixed_and_rivals", "all"),
    )
    objectives: list[str] | None = setting(
        None,
        "what is traded off, the one that is limited first: error, entropy, travel, effort, names of the plant's own "
        "measures; null: the plant's trade-off, without one error, entropy, travel",
    )
    evaluations: int | None = setting(
        None, "closed-loop evaluations of each front; null: budget.evaluations", low=60, advanced=True
    )
    population: int | None = setting(
        None, "individuals, so the most points of a front; null: 100", low=4, advanced=True
    )
    choice: str = setting(
        "knee",
        "point that is judged beside the ladder: knee; budget: least second objective within the error budget; limit: "
        "least first objective with the second at most front.limit or that of front.limit_of",
        choices=("knee", "budget", "limit"),
    )
    error_budget: float = setting(0.2, "budget: first objective above its least one, as a share of it", low=0)
    error_span: float = setting(
        2.0, "largest first objective still of use, in multiples of the fixed PID's", above=1, advanced=True
    )
    limit: float | None = setting(None, "limit: largest second objective, in its unit", low=0)
    limit_of: str | None = setting(
        None,
        "limit: contender whose second objective is the largest: fixed, own, knowledge_base, knowledge_base_free, "
        "rival_NAME, or best_rival, the law of the field with the least first objective",
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        given = self.objectives
        if given is not None and (len(given) < 2 or len(set(given)) != len(given)):
            yield f"objectives must be two or more different ones, got {given}"
        limits = [value for value in (self.limit, self.limit_of) if value is not None]
        if self.choice == "limit" and len(limits) != 1:
            yield f"choice=limit needs one of limit (a number) and limit_of (a contender), got {len(limits)} of them"
        if self.choice != "limit" and limits:
            yield f"limit and limit_of need choice=limit, got choice={self.choice}"
