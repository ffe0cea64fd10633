"""What entropy's own test declares before it is run: read, checked, and known by its hash."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import plants
from experiments.runtime.errors import UserError
from experiments.studies.engine.declaration import FOLDER, check_names, entries_of
from experiments.studies.engine.template import Template
from plants.core.names import unknown
from sscq.loop.quality import ALL_MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TEMPLATE = Template.of("entropy")
DECLARED = FOLDER / TEMPLATE.head["declared"]


@dataclass(frozen=True)
class Robustness:
    """The table beside the test: a plant, a budget, delays added [s], and what entropy is to save at another budget."""

    plant: str
    budget: float
    added_delays: tuple[float, ...]
    entropy_budget: float
    wanted_reduction: float


@dataclass(frozen=True)
class EntropyTest:
    """What is asked and how it is decided.

    Attributes
    ----------
    plants : mapping of plant to str
        What its heat is.
    regularisers : mapping of measure to str
        Entropy's first.
    budgets : tuple of float
        Mean IAE of the smallest.
    evaluations, search_seeds, verdict_seeds : int
    judged_by : str
        Measure that decides.
    error_slack : float
    robustness : Robustness
    digest : str
        SHA-256 of the declaring file.
    """

    hypothesis: str
    plants: Mapping[str, str]
    regularisers: Mapping[str, str]
    budgets: tuple[float, ...]
    evaluations: int
    search_seeds: int
    verdict_seeds: int
    judged_by: str
    error_slack: float
    robustness: Robustness
    digest: str

    @property
    def entropy(self) -> str:
        """The measure whose test it is."""
        return next(iter(self.regularisers))


def declaration(path: Path = DECLARED) -> EntropyTest:
    """Read a declaration.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, a measure or plant that there is not, or a budget not above 1.
    """
    given, digest = entries_of(path, {f.name for f in fields(EntropyTest)} - {"digest"})
    check_names(given["robustness"], {f.name for f in fields(Robustness)}, f"{path.name}: robustness")
    beside = given.pop("robustness")
    robustness = Robustness(**beside | {"added_delays": tuple(beside["added_delays"])})
    found = EntropyTest(**given | {"budgets": tuple(given["budgets"]), "robustness": robustness, "digest": digest})
    _check_values(found)
    return found


def _check_values(found: EntropyTest) -> None:
    for name in (*found.plants, found.robustness.plant):
        plants.find(name)
    for measure in (*found.regularisers, found.judged_by):
        if measure not in ALL_MEASURES:
            raise UserError(unknown("measure", measure, ALL_MEASURES))
    budgets = (*found.budgets, found.robustness.budget, found.robustness.entropy_budget)
    if not all(budget > 1.0 for budget in budgets):
        raise UserError(f"budgets of the smallest IAE must be above 1, got {list(budgets)}")
    if min(found.evaluations, found.search_seeds) < 1 or found.verdict_seeds < 2:
        raise UserError("evaluations and search_seeds must be at least 1, verdict_seeds at least 2")
