"""The rounds: fit a model, design on it, hold the design against the slow plant, learn from what differed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from controllers import ConstantGains, Controller, gain_names
from experiments.surrogate import grey_fit, linear_fit, models
from flcs import FuzzyController, KnowledgeBase
from plants.core import atomic_files
from sscq.loop.evaluate import evaluate
from sscq.situations.situation_sets import KINDS, standard_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.surrogate.runs import Run, SlowRuns
    from plants import Plant
    from sscq import Situation

    Array = NDArray[np.float64]

_EXPERIMENTS = 6
_GAINED = 0.9  # a round that leaves more than this share of the difference has nothing more to learn


@dataclass(frozen=True)
class Plan:
    """What is asked for.

    Attributes
    ----------
    model : Plant or None
        Whose parameters are fitted; None: a linear model.
    names : tuple of str
        These parameters.
    order : int
        Highest order of a linear model.
    horizon : float
        Of an experiment [s].
    rounds : int
    tolerance : float
        Largest difference of the tracking error between model and slow plant, as a share, that is agreement.
    seed : int
    """

    model: Plant | None
    names: tuple[str, ...]
    order: int
    horizon: float
    rounds: int
    tolerance: float
    seed: int


@dataclass(frozen=True)
class Round:
    """What one round found.

    Attributes
    ----------
    model : str
        In words.
    fit_error : float
        Of the model's outputs, as a share of their spread.
    situations : tuple of str
    slow, fast, reference : tuple of float
        Mean of |e| over time in each, in channel scales: knowledge base on the slow plant and on the model, and
        reference gains on the slow plant. Infinite where the loop diverged.
    runs : int
        Of the slow plant up to here.
    folder : str
        Of the design.
    """

    model: str
    fit_error: float
    situations: tuple[str, ...]
    slow: tuple[float, ...]
    fast: tuple[float, ...]
    reference: tuple[float, ...]
    runs: int
    folder: str

    @property
    def difference(self) -> float:
        """Largest difference between model and slow plant, as a share of the larger tracking error; 1: one diverged."""
        return max(_differ(a, b) for a, b in zip(self.slow, self.fast, strict=True))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "difference": self.difference}


@dataclass
class Rounds:
    """The surrogate loop.

    Attributes
    ----------
    runs : SlowRuns
    plan : Plan
    folder : Path
    design : callable
        Plant's name, its file and a new folder; makes a design there and returns its knowledge base.
    say : callable
        Told what happens.
    keep : callable
        Given all rounds so far after each: what was found outlives a round that cannot be finished.
    """

    runs: SlowRuns
    plan: Plan
    folder: Path
    design: Callable[[Plant, Path, Path], KnowledgeBase]
    say: Callable[[str], object]
    keep: Callable[[list[Round]], object] = lambda _: None
    data: list[Run] = field(default_factory=list)

    def run(self) -> list[Round]:
        """Go round until model and slow plant agree, nothing more is learnt, or rounds or runs are used up."""
        self.data = self.runs.experiments(_EXPERIMENTS, self.plan.horizon, self.plan.seed)
        done: list[Round] = []
        while len(done) < self.plan.rounds:
            done.append(self._round(len(done) + 1))
            self.keep(done)
            now = done[-1]
            self.say(
                f"round {len(done)}: {now.model}, fit error {100 * now.fit_error:.2g} %; slow plant and model differ "
                f"by {100 * now.difference:.3g} % at most; {now.runs} slow runs"
            )
            if now.difference <= self.plan.tolerance:
                break
            if len(done) > 1 and now.difference > _GAINED * done[-2].difference:
                self.say("the last round learnt nothing more")
                break
            if self.runs.left < 2 * len(now.situations):
                self.say("the slow runs that are left are too few for another round")
                break
        return done

    def _round(self, number: int) -> Round:
        name = f"{self.runs.plant.name}_model_{number}"
        plant, text, words, error = self._fitted(name)
        file, place = self.folder / f"{name}.py", self.folder / f"design_{number}"
        atomic_files.write(file, text)
        kb = self.design(plant, file, place)
        plant = plants.find(name)
        several = _known(standard_sets(plant), self.runs.plant.plant)
        slow, fast, reference = self._held_against(kb, plant, several)
        return Round(
            words, error, tuple(s.name for s in several), slow, fast, reference, self.runs.used, place.name,
        )  # fmt: skip

    def _fitted(self, name: str) -> tuple[Plant, str, str, float]:
        plan, like, step = self.plan, self.runs.plant.plant, self.runs.step
        if plan.model is not None:
            grey = grey_fit.fit(plan.model, plan.names, self.data, like, step)
            values = ", ".join(f"{key} = {value:.6g}" for key, value in grey.values.items())
            return *models.grey(name, grey), f"{plan.model.name} with {values}", grey.error
        rest = np.array([q.nominal for q in like.inputs])
        found = linear_fit.fit(self.data, rest, step, plan.order)
        words = f"linear model of order {found.order}" + (f", dead time {found.late * step:g} s" if found.late else "")
        return *models.linear(name, found, like, step), words, found.error

    def _held_against(
        self, kb: KnowledgeBase, plant: Plant, several: Sequence[Situation]
    ) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Mean errors on the slow plant and on the model; the slow runs join the data."""
        fuzzy = FuzzyController(kb)
        constant = Controller(fuzzy.laws, ConstantGains(gain_names(fuzzy.laws)))
        gains = np.array([gain for base in kb.channels for gain in base.reference])
        slow, seen = self.runs.judged(fuzzy, fuzzy.theta, several)
        plain, more = self.runs.judged(constant, gains, several)
        on_model = evaluate(plant, fuzzy, fuzzy.theta, several, self.runs.step)
        self.data += [run for run in (*seen, *more) if len(run.inputs) > 0]
        return _means(slow), _means(on_model), _means(plain)


def _known(sets: dict[str, tuple[Situation, ...]], slow: Plant) -> list[Situation]:
    """Each situation once; parameters that only the model has (its dead time) are left at their values."""
    found: dict[str, Situation] = {}
    known = {q.name for q in slow.parameters}
    for situation in (s for kind in KINDS for s in sets[kind]):
        given: Any = situation.parameters or {}
        if not given or (hasattr(given, "keys") and known.issuperset(given)):
            found.setdefault(situation.name, situation)
    return list(found.values())


def _means(quality: Any) -> tuple[float, ...]:
    values = np.where(quality.failed, np.inf, quality.iae / quality.t_end[:, None])[:, 0]
    return tuple(float(value) for value in values)


def _differ(a: float, b: float) -> float:
    if not (np.isfinite(a) and np.isfinite(b)):
        return 0.0 if a == b else 1.0
    return abs(a - b) / max(a, b, 1e-12)
