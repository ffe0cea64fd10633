"""What regularisers come to at equal tracking error: fixed gains cheapest in one measure within a budget of error.

All measures are searched alike; heat and error are compared in unforeseen situations, with paired rollouts and
resampled seeds. What is declared before the test is run is read, checked, and known by its hash.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.runtime.errors import UserError
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from experiments.studies.engine.changes import ends, resampled
from experiments.studies.engine.declaration import FOLDER, check_names, entries_of
from experiments.studies.engine.template import Template
from plants.core.names import unknown
from sscq.baselines import candidates
from sscq.baselines.survey import survey
from sscq.loop.quality import ALL_MEASURES
from sscq.search.cmaes import CmaEs
from sscq.search.search import evolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.settings import Setup
    from sscq.situations.situation import Situation


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


ERROR = "iae"
_EXCESS = 100.0  # price of the whole budget beyond the budget, in reference values of the measure: a wall, not a trade
_MARGINS, _FAILED = 10.0, 1e3


@dataclass(frozen=True)
class Cheapest:
    """Gains found [n_gains], their measure and mean IAE on the taught situations, and what the search cost."""

    gains: np.ndarray
    value: float
    error: float
    evaluations: int


class Workshop:
    """One plant's searches: controller, starts, margins and the scale of the derivative action are common to all.

    Parameters
    ----------
    setup : Setup
    measures : sequence of str
        All that will be searched or judged.
    evaluations, seeds : int
        Of one search, and how many searches the best is taken of.
    """

    def __init__(self, setup: Setup, measures: Sequence[str], evaluations: int, seeds: int) -> None:
        self.setup, self.evaluations, self.seeds = setup, evaluations, seeds
        self.measures = tuple(dict.fromkeys((ERROR, *measures)))
        self.margins = setup.margins()
        seen = survey(setup.task(), setup.laws, setup.low, setup.high, own=setup.own, margins=self.margins)
        self.candidate = candidates.fixed(setup.laws, setup.low, setup.high, seen.best)
        self.task = setup.task(fitness=replace(setup.fitness, entropy_scale=seen.fitness.entropy_scale))
        self.loop = self.task.loop(self.candidate.controller, self.measures)

    def quality(self, gains: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return means over the taught situations [n] by measure, and the share of the time lost by failing [n]."""
        found = self.loop.evaluate(np.atleast_2d(gains), self.setup.threads)
        horizon = np.asarray(found.t_end)[:, None]
        lost = np.where(found.failed, 1.0 + (horizon - found.diverged_at) / horizon, 0.0).mean(axis=0)
        return {name: np.asarray(found.until_lost[name].mean(axis=0)) for name in self.measures}, lost

    def cheapest(self, measure: str, budget: float, start: np.ndarray | None = None) -> Cheapest:
        """Return the gains that are least in a measure at no more than `budget` of mean IAE; the best of all seeds."""
        begin = self.candidate.start if start is None else np.vstack([start, self.candidate.start])
        reference = abs(float(self.quality(begin[:1])[0][measure][0])) or 1.0

        def price(genomes: np.ndarray) -> np.ndarray:
            means, lost = self.quality(genomes)
            value = means[measure] / reference + _EXCESS * np.maximum(means[ERROR] / budget - 1.0, 0.0)
            if self.margins is not None:
                value = value + _MARGINS * self.margins.violation(genomes[:, None, :])
            return np.where(lost > 0.0, _FAILED * (1.0 + lost), np.where(np.isfinite(value), value, 3.0 * _FAILED))

        # Coarse enough that a run ends and the next one starts elsewhere within the budget.
        method = CmaEs(evaluations=self.evaluations, fitness_tolerance=1e-6, step_tolerance=1e-5)
        found = [
            evolve(price, self.candidate.low, self.candidate.high, method, self.setup.seed + seed, start=begin,
                   scale=self.candidate.scale)
            for seed in range(self.seeds)
        ]  # fmt: skip
        best = min(found, key=lambda one: one.fitness)
        means, _ = self.quality(best.genome)
        spent = sum(one.evaluations for one in found)
        return Cheapest(best.genome, float(means[measure][0]), float(means[ERROR][0]), spent)

    def judged(self, gains: np.ndarray, blocks: Sequence[Sequence[Situation]]) -> tuple[dict[str, Any], np.ndarray]:
        """Return measures [candidate, seed, situation] by name of gains [candidate, n_gains], and which failed."""
        several = [situation for block in blocks for situation in block]
        found = self.task.on(several).loop(self.candidate.controller, self.measures).evaluate(gains, self.setup.threads)
        shape = (len(blocks), len(blocks[0]), len(gains))

        def table(values: np.ndarray) -> np.ndarray:
            return np.moveaxis(values.reshape(shape), -1, 0)

        return {name: table(found.until_lost[name]) for name in self.measures}, table(found.failed)


_RESAMPLES = 2000


@dataclass(frozen=True)
class Difference:
    """Entropy less a rival in paired rollouts: mean and 95 % interval of heat [J] and of IAE; rollouts newly lost."""

    heat: tuple[float, float, float]
    error: tuple[float, float, float]
    new_failures: int
    result: str


@dataclass(frozen=True)
class AtBudget:
    """All regularisers at one budget: gains found, mean heat and IAE in unforeseen situations, comparisons."""

    budget: float
    found: Mapping[str, Cheapest]
    heat: Mapping[str, float]
    error: Mapping[str, float]
    against: Mapping[str, Difference]


@dataclass(frozen=True)
class OfPlant:
    """One plant's part of the test."""

    plant: str
    least_error: float
    budgets: tuple[AtBudget, ...]
    verdict: str


def settings_of(plant: str) -> Any:
    """Return the objects of a design with every default, for one plant."""
    return setup(stored_settings("design", {"plant": plant, "quiet": True}))


def workshop(plant: str, declared: EntropyTest) -> Workshop:
    """Return the searches of one plant, as declared."""
    measures = (*declared.regularisers, declared.judged_by)
    return Workshop(settings_of(plant), measures, declared.evaluations, declared.search_seeds)


def of_plant(plant: str, declared: EntropyTest) -> OfPlant:
    """Search all regularisers at all budgets, and compare them in unforeseen situations."""
    shop = workshop(plant, declared)
    least = shop.cheapest(ERROR, np.inf)
    blocks = [shop.setup.repetition("unforeseen", number) for number in range(declared.verdict_seeds)]
    found = tuple(_at_budget(shop, declared, budget, least, blocks) for budget in declared.budgets)
    return OfPlant(plant, least.error, found, verdict(found))


def _at_budget(shop: Workshop, declared: EntropyTest, budget: float, least: Cheapest, blocks: Any) -> AtBudget:
    names = list(declared.regularisers)
    found = {name: shop.cheapest(name, budget * least.error, least.gains) for name in names}
    values, failed = shop.judged(np.array([found[name].gains for name in names]), blocks)
    heat, error = values[declared.judged_by], values[ERROR]
    against = {
        rival: difference(heat[[0, k]], error[[0, k]], failed[[0, k]], declared.error_slack)
        for k, rival in enumerate(names) if k
    }  # fmt: skip
    means = [{name: float(table[k].mean()) for k, name in enumerate(names)} for table in (heat, error)]
    return AtBudget(budget, found, means[0], means[1], against)


def difference(heat: np.ndarray, error: np.ndarray, failed: np.ndarray, slack: float) -> Difference:
    """Compare entropy with a rival: tables [2, seed, situation], entropy first. Whole seeds are resampled."""
    rows = resampled(heat.shape[1], _RESAMPLES)
    new = int((failed[0] & ~failed[1]).sum())
    lost = failed.any(axis=0)  # a rollout cut short has little of both

    def mean(table: np.ndarray) -> tuple[float, float, float]:
        gap = np.where(lost, 0.0, table[0] - table[1]).sum(axis=1)
        count = (~lost).sum(axis=1)
        draws = gap[rows].sum(axis=1) / np.maximum(count[rows].sum(axis=1), 1)
        return float(gap.sum() / max(count.sum(), 1)), *ends(draws)

    of_heat, of_error = mean(heat), mean(error)
    allowed = slack * float(error[1][~lost].mean()) if not lost.all() else 0.0
    if new or of_heat[1] > 0.0:
        result = "loses"
    elif of_heat[2] < 0.0 and of_error[0] <= allowed:
        result = "wins"
    else:
        result = "undecided"
    return Difference(of_heat, of_error, new, result)


def verdict(found: Sequence[AtBudget]) -> str:
    """Decide by the declared rule: holds, refuted or undecided."""
    rivals = list(found[0].against)
    lost = [sum(one.against[rival].result == "loses" for one in found) for rival in rivals]
    won = sum(all(one.against[rival].result == "wins" for rival in rivals) for one in found)
    if max(lost) >= 2:
        return "refuted"
    return "holds" if won >= 2 and not any(lost) else "undecided"


def robustness(declared: EntropyTest) -> dict[str, Any]:
    """Return the table beside the test: IAE with added delay, and what is saved of |dS_u - dS_c| at another budget."""
    beside = declared.robustness
    shop = workshop(beside.plant, declared)
    least = shop.cheapest(ERROR, np.inf)
    names = list(declared.regularisers)
    wide = {name: shop.cheapest(name, beside.budget * least.error, least.gains) for name in names}
    gains = np.vstack([least.gains, *(wide[name].gains for name in names)])
    blocks = [shop.setup.repetition("unforeseen", number) for number in range(declared.verdict_seeds)]
    rows: dict[str, Any] = {name: {} for name in ("least IAE", *names)}
    for delay in (0.0, *beside.added_delays):
        later = [[replace(s, delay=s.delay + delay) for s in block] for block in blocks]
        values, failed = shop.judged(gains, later)
        for k, name in enumerate(rows):
            alive = ~failed[k]
            mean = float(values[ERROR][k][alive].mean()) if alive.any() else float("nan")
            rows[name][f"{delay:g}"] = {"iae": mean, "failures": int(failed[k].sum())}
    close = {name: shop.cheapest(name, beside.entropy_budget * least.error, least.gains) for name in names}
    taught = {name: shop.quality(one.gains)[0] for name, one in {"least IAE": least, **close}.items()}
    saved = {name: {m: float(values[m][0]) for m in (ERROR, declared.entropy)} for name, values in taught.items()}
    return {"delays": rows, "saved": saved, "gains": {"least IAE": least, **wide}}
