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

    of: str = setting("none", "whose front is searched", choices=("none", "fixed", "fixed_and_knowledge_base"))
    objectives: list[str] = setting(
        lambda: ["error", "entropy", "travel"],
        "what is traded off, tracking error first: error, entropy, travel, effort, names of the plant's own measures",
    )
    evaluations: int | None = setting(None, "closed-loop evaluations of each front; null: budget.evaluations", low=60)
    population: int | None = setting(None, "individuals, so the most points of a front; null: 100", low=4)
    choice: str = setting(
        "knee",
        "point that is judged beside the ladder: knee, or least entropy in the budget",
        choices=("knee", "budget"),
    )
    error_budget: float = setting(0.2, "budget: error above the least one, as a share of it", low=0)
    error_span: float = setting(2.0, "largest error still of use, in multiples of the fixed PID's", above=1)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if len(self.objectives) < 2 or len(set(self.objectives)) != len(self.objectives):
            yield f"objectives must be two or more different ones, got {self.objectives}"
        elif self.objectives[0] != "error":
            yield f"objectives must begin with error, got {self.objectives}"
        elif self.choice == "budget" and "entropy" not in self.objectives:
            yield f"choice=budget takes the least entropy, which is not among the objectives {self.objectives}"
