"""Settings of the trade-off front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class FrontConfig:
    """The trade-off front beside the ladder: what every share of tracking error buys, by non-dominated sorting."""

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
    evaluations: int | None = setting(None, "closed-loop evaluations of each front; null: budget.evaluations", low=60)
    population: int | None = setting(None, "individuals, so the most points of a front; null: 100", low=4)
    choice: str = setting(
        "knee",
        "point that is judged beside the ladder: knee; budget: least second objective within the error budget; limit: "
        "least first objective with the second at most front.limit or that of front.limit_of",
        choices=("knee", "budget", "limit"),
    )
    error_budget: float = setting(0.2, "budget: first objective above its least one, as a share of it", low=0)
    error_span: float = setting(2.0, "largest first objective still of use, in multiples of the fixed PID's", above=1)
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
