"""What an error budget buys: spent on entropy production, on actuator travel, or on control effort.

    python -m experiments.studies.van_der_pol.regularisers    # the Van der Pol study, into docs/regularisers.md
    python -m experiments.studies.van_der_pol.regularisers plant=duffing budget=small    # any design's; prints only

Fixed gains. First the least tracking error E in the taught situations is searched, then the trade-off front of the
error with each of the three. Of each front the point with the least of it at no more than 1.2 E and 1.5 E is taken: all
have the same budget. How they fare where nothing was taught, with delays added to the loop, tells them apart.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.runtime.launch import configured
from experiments.runtime.tables import number
from experiments.settings import setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema import DesignConfig
    from experiments.settings import Setup

VARIANTS: dict[str, Sequence[str]] = {
    "No margin constraint": ("experiment=van_der_pol_study",),
    "Ms at most 1.8 at the operating points": ("experiment=van_der_pol_study", "fitness.max_sensitivity=1.8"),
}
BUDGETS = (0.2, 0.5)
DELAYS = (0.0, 0.1, 0.15, 0.2)
"""Added to the commands of the unforeseen situations [s]."""

SPENT_ON = ("entropy", "travel", "effort")
_POPULATION = 60
_HEAD = (
    "# Entropy production beside other regularisers", "",
    (
        "Written by `python -m experiments.studies.van_der_pol.regularisers`: the Van der Pol study, fixed gains, by "
        "what an error budget is"
    ),
    "spent on. Per cent against the least error; the last columns are mean errors in the unforeseen situations, with a",
    "delay added to the commands.", "",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One set of gains.

    Attributes
    ----------
    name : str
    gains : ndarray [n_gains]
    taught : ndarray [1 + len(SPENT_ON)]
        Mean error, entropy production difference, travel and effort in the taught situations.
    unforeseen : ndarray [len(DELAYS)]
        Mean error of the rollouts that survive.
    lost : ndarray of int [len(DELAYS)]
        Rollouts that diverge.
    """

    name: str
    gains: np.ndarray
    taught: np.ndarray
    unforeseen: np.ndarray
    lost: np.ndarray


def rows(job: Setup) -> dict[float, list[Row]]:
    """Return the least error's gains and those of each regulariser, by error budget."""
    from sscq.search import front_search

    least, error = _least_error(job)
    fronts = {word: _front(job, word, least, error) for word in SPENT_ON}
    error = min(float(values[:, 0].min()) for _, values in fronts.values())  # one budget for all
    found = {}
    for budget in BUDGETS:
        found[budget] = [_row(job, "least error", least)]
        for word, (genomes, values) in fronts.items():
            place = front_search.within_budget(values, (1.0 + budget) * error / values[:, 0].min() - 1.0)
            found[budget].append(_row(job, f"least {word}", genomes[place]))
    return found


def _least_error(job: Setup) -> tuple[np.ndarray, float]:
    from sscq.baselines import candidates
    from sscq.baselines.search_plan import SearchPlan, search
    from sscq.fitness import Fitness

    task = job.task(fitness=Fitness(error=job.fitness.error, entropy_weight=0.0))
    middle = 0.5 * (job.low + job.high)
    candidate = candidates.fixed(job.laws, job.low, job.high, middle)
    found = search(task, candidate, SearchPlan(job.methods(len(middle)), job.seed), job.margins())
    return found.theta, found.fitness


def _front(job: Setup, word: str, least: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Gains [n, n_gains] and values [n, 2] of the front of the error with one other objective."""
    from sscq.baselines import candidates
    from sscq.baselines.objective import FrontObjective
    from sscq.search.front_search import search_front
    from sscq.search.nsga2 import NonDominatedSorting

    candidate = candidates.fixed(job.laws, job.low, job.high, least)
    words = ("error", word)
    limits = {"error": (1.0 + max(BUDGETS)) * error * (1.0 + 1e-9)}
    objective = FrontObjective(job.task(), candidate, words, job.margins(), limits)
    method = NonDominatedSorting(population=_POPULATION, evaluations=job.evaluations)
    found = search_front(
        objective, candidate.low, candidate.high, words, method, job.seed, start=least[None], scale=candidate.scale
    )
    return found.genomes, found.objectives


def _row(job: Setup, name: str, gains: np.ndarray) -> Row:
    from controllers import ConstantGains, Controller, gain_names
    from sscq.baselines.objective import measure_of

    controller = Controller(job.laws, ConstantGains(gain_names(job.laws)))
    quality = job.task().quality(controller, gains)
    measures = [measure_of(word, job.fitness) for word in ("error", *SPENT_ON)]
    taught = np.array([float(quality.values[m].mean()) for m in measures])
    unforeseen, lost = [], []
    for delay in DELAYS:
        situations = [replace(s, delay=s.delay + delay) for s in job.sets["unforeseen"]]
        found = job.task().on(situations).quality(controller, gains)
        alive = ~found.failed
        unforeseen.append(float(found.values[measures[0]][alive].mean()) if alive.any() else np.nan)
        lost.append(int(found.failed.sum()))
    return Row(name, gains, taught, np.array(unforeseen), np.array(lost))


def table(budget: float, several: Sequence[Row], names: Sequence[str], error: str) -> list[str]:
    """Return the table of one budget as Markdown lines."""
    head = ["fixed gains", *names, error, "entropy", "travel", "effort"]
    head += [f"unforeseen {error}" if d == 0.0 else f"+{d:g} s" for d in DELAYS]
    lines = [f"### Error up to {1.0 + budget:g} times the least", "", _line(head), "|---" * len(head) + "|"]
    base = several[0].taught
    for row in several:
        spent = [_against(value, least) for value, least in zip(row.taught, base, strict=True)]
        tested = [
            number(float(v)) + (f" ({n} lost)" if n else "") for v, n in zip(row.unforeseen, row.lost, strict=True)
        ]
        lines.append(_line([row.name, *(f"{g:.3g}" for g in row.gains), *spent, *tested]))
    return [*lines, ""]


def _against(value: float, least: float) -> str:
    change = "" if value == least or least <= 0.0 else f" ({100.0 * (value / least - 1.0):+.0f} %)"
    return number(value) + change


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def report(config: DesignConfig) -> list[str]:
    """Return the tables of a design's settings as Markdown lines."""
    from controllers import gain_names

    job = setup(config)
    names = gain_names(job.laws)
    return [line for budget, several in rows(job).items()
            for line in table(budget, several, names, job.fitness.error.upper())]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; without arguments those of the study, which docs/regularisers.md is made of."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    variants = {"": given} if given else VARIANTS
    lines: list[str] = []
    for title, overrides in variants.items():
        lines += [f"## {title}", ""] if title else []
        lines += report(configured("design", overrides))
    print("\n".join(lines))
    if not given:
        Path("docs/regularisers.md").write_text("\n".join([*_HEAD, *lines]).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
