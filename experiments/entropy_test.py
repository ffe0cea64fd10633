"""Entropy's own test: heat at equal tracking error, against effort and total variation as regularisers.

    python -m experiments.benchmark suite=entropy
    python -m experiments.benchmark suite=entropy plants=cstr evaluations=200 verdict_seeds=4 folder=runs/look

Hypothesis, plants, budgets, measures, seeds and the rule that decides are declared in configs/entropy_test.yaml; the
result carries the file's hash, and says where words of the command line changed what is declared. Writes entropy.json
and entropy.md into the folder (runs/entropy).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats
from experiments.budgeted import ERROR, Cheapest, Workshop
from experiments.entropy_declaration import Declaration, declaration
from experiments.errors import UserError, user_errors
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RESAMPLES = 2000
_NUMBERS = ("evaluations", "search_seeds", "verdict_seeds")


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
    from experiments.launch import stored_settings
    from experiments.setup import setup

    return setup(stored_settings("design", {"plant": plant, "quiet": True}))


def workshop(plant: str, declared: Declaration) -> Workshop:
    """Return the searches of one plant, as declared."""
    measures = (*declared.regularisers, declared.judged_by)
    return Workshop(settings_of(plant), measures, declared.evaluations, declared.search_seeds)


def of_plant(plant: str, declared: Declaration) -> OfPlant:
    """Search all regularisers at all budgets, and compare them in unforeseen situations."""
    shop = workshop(plant, declared)
    least = shop.cheapest(ERROR, np.inf)
    blocks = [shop.setup.repetition("unforeseen", number) for number in range(declared.verdict_seeds)]
    found = tuple(_at_budget(shop, declared, budget, least, blocks) for budget in declared.budgets)
    return OfPlant(plant, least.error, found, verdict(found))


def _at_budget(shop: Workshop, declared: Declaration, budget: float, least: Cheapest, blocks: Any) -> AtBudget:
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


def difference(heat: np.ndarray, error: np.ndarray, failed: np.ndarray, slack: float, seed: int = 0) -> Difference:
    """Compare entropy with a rival: tables [2, seed, situation], entropy first. Whole seeds are resampled."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = rng.integers(0, heat.shape[1], (_RESAMPLES, heat.shape[1]))
    new = int((failed[0] & ~failed[1]).sum())
    lost = failed.any(axis=0)  # a rollout cut short has little of both

    def mean(table: np.ndarray) -> tuple[float, float, float]:
        gap = np.where(lost, 0.0, table[0] - table[1]).sum(axis=1)
        count = (~lost).sum(axis=1)
        draws = gap[rows].sum(axis=1) / np.maximum(count[rows].sum(axis=1), 1)
        low, high = np.quantile(draws, (0.025, 0.975))
        return float(gap.sum() / max(count.sum(), 1)), float(low), float(high)

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


def robustness(declared: Declaration) -> dict[str, Any]:
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


def options(words: Sequence[str]) -> tuple[Declaration, Path, tuple[str, ...]]:
    """Read the command's words; return what is run, where to, and which words change what is declared."""
    declared, folder, changed = declaration(), Path("runs/entropy"), []
    for word in words:
        key, equals, value = word.partition("=")
        if key == "folder" and equals:
            folder = Path(value)
        elif key == "plants" and equals:
            unknown = [name for name in value.split(",") if name not in declared.plants]
            if unknown:
                raise UserError(f"{unknown[0]} is not declared: the test's plants are {', '.join(declared.plants)}")
            declared = replace(declared, plants={name: declared.plants[name] for name in value.split(",")})
            changed.append(word)
        elif key in _NUMBERS and value.isdecimal() and int(value) > (key == "verdict_seeds"):
            declared = replace(declared, **{key: int(value)})  # type: ignore[arg-type]
            changed.append(word)
        else:
            raise UserError(f"expected folder=, plants= or a whole number for {', '.join(_NUMBERS)}, got {word!r}")
    return declared, folder, tuple(changed)


def main(words: Sequence[str]) -> None:
    """Run the test, print its tables, and write them."""
    from experiments.entropy_page import of_robustness, page, rows

    with user_errors():
        declared, folder, changed = options(words)
        folder.mkdir(parents=True, exist_ok=True)
        found: list[OfPlant] = []
        for name in declared.plants:
            found.append(of_plant(name, declared))
            print("\n".join(rows(found[-1], declared)), flush=True)
        beside = robustness(declared)
        print("\n".join(of_robustness(beside, declared)), flush=True)
        data = {"declaration": asdict(declared), "changed": changed, "plants": found, "robustness": beside}
        formats.write_json(folder / "entropy.json", data)
        atomic.write(folder / "entropy.md", page(found, beside, declared, changed))
        print(f"\nwritten: {folder / 'entropy.md'}, entropy.json")
