"""Tables of the car's comparison: comfort, tyre load, stroke and entropy of all controllers; what became of the aim."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments import formats
from experiments.judging.rollout_tables import rows_of
from experiments.text_table import number
from sscq.bootstrap import Change, change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RIDE, TYRE = "ride_comfort", "tyre_load_variation"
ORDER = (
    "rival_as_built", "rival_passive", "rival_sky_hook", "rival_modified_sky_hook", "rival_ground_hook",
    "rival_acceleration_driven", "rival_mixed", "fixed", "two_degree", "knowledge_base", "knowledge_base_free",
    "oracle",
)  # fmt: skip
OURS = ("knowledge_base", "knowledge_base_free", "fixed")
_SHOWN = (RIDE, TYRE, "stroke", "stroke_beyond", "lift_off", "entropy_plant")
_DRAWS = 2000
NEAR = 0.005  # of J: what counts as equal


@dataclass(frozen=True)
class Judged:
    """Rollouts of designs that see the same roads, the mean of the designs.

    Attributes
    ----------
    tables : mapping of (controller, kind) to ndarray [measure, seed, situation]
    rows : tuple of str
        The measures.
    titles : mapping of controller to str
    metrics : tuple of mappings
        Of the designs, as they are stored.
    names : mapping of kind to tuple of str
        The situations.
    """

    tables: Mapping[tuple[str, str], Array]
    rows: tuple[str, ...]
    titles: Mapping[str, str]
    metrics: tuple[Mapping[str, Any], ...]
    names: Mapping[str, tuple[str, ...]]

    def of(self, name: str, kind: str, measure: str) -> Array:
        """Return a measure of all rollouts [seed, situation]."""
        return self.tables[name, kind][self.rows.index(measure)]

    def known(self) -> list[str]:
        """Return the controllers, in the order of the tables."""
        return [name for name in ORDER if (name, "taught") in self.tables]

    def best(self, names: Sequence[str], kind: str) -> str:
        """Return the one of several controllers with the lowest mean fitness."""
        return min(names, key=lambda n: float(np.mean([m["controllers"][n]["fitness"][kind] for m in self.metrics])))

    def change(self, name: str, base: str, kind: str, measure: str, situation: int | None = None) -> Change:
        """Return the change of a measure's mean; whole seeds are resampled, so that situations stay together."""
        one, other = self.of(name, kind, measure), self.of(base, kind, measure)
        if situation is not None:
            one, other = one[:, [situation]], other[:, [situation]]
        return change(lambda values: values.mean(axis=-1), one, other, _draws(len(one)))


def _draws(n_seeds: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, n_seeds, (_DRAWS, n_seeds))


def read(folders: Sequence[Path]) -> Judged:
    """Read finished designs that were judged in the same rollouts."""
    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    arrays = [formats.read_npz(folder / "stages" / "judgement" / "quality.npz") for folder in folders]
    plant = plants.get(formats.read_json(folders[0] / "config.json")["config"]["plant"])
    known = [name for name in metrics[0]["controllers"] if all(name in one["controllers"] for one in metrics)]
    kinds = ("taught", "unforeseen")
    return Judged(
        {(name, kind): np.mean([a[f"{name}.{kind}"] for a in arrays], axis=0) for name in known for kind in kinds},
        rows_of(plant),
        {name: metrics[0]["controllers"][name]["title"] for name in known},
        tuple(metrics),
        {kind: tuple(s["name"] for s in plant.situations[kind]) for kind in kinds},
    )


def table(judged: Judged, kind: str, base: str) -> list[str]:
    """Return all controllers as Markdown lines; changes are against `base`."""
    head = (
        "controller", "weighted acceleration, m/s^2", "change", "tyre-load variation", "change", "largest stroke, m",
        "time beyond 0.08 m", "wheel off the road", "heat of dampers and tyres, J", "J",
    )  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in judged.known():
        changes = ["", ""]
        if name != base:
            changes = [str(judged.change(name, base, kind, measure)) for measure in (RIDE, TYRE)]
        ride, tyre, stroke, beyond, lifted, entropy = (judged.of(name, kind, measure) for measure in _SHOWN)
        fitness = np.mean([one["controllers"][name]["fitness"][kind] for one in judged.metrics])
        cells = (
            judged.titles[name], _with_interval(ride), changes[0], _with_interval(tyre), changes[1],
            f"{stroke.mean():.3f}", f"{100 * beyond.mean():.2f} %", f"{100 * lifted.mean():.2f} %",
            number(float(entropy.mean())), f"{fitness:.4g}",
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _with_interval(values: Array) -> str:
    """Mean of all rollouts with its 95 % interval from resampled seeds."""
    means = values.mean(axis=1)
    low, high = np.quantile(means[_draws(len(means))].mean(axis=1), (0.025, 0.975))
    return f"{means.mean():.4f} [{low:.4f}, {high:.4f}]"


def by_situation(judged: Judged, names: Sequence[str], base: str) -> list[str]:
    """Return changes of weighted acceleration and tyre-load variation in every situation as Markdown lines."""
    head = " | ".join(f"{judged.titles[name]}: acceleration | tyre load" for name in names)
    lines = [f"| situation | {head} |", "|---" * (1 + 2 * len(names)) + "|"]
    for kind, situations in judged.names.items():
        for k, situation in enumerate(situations):
            cells = [
                str(judged.change(name, base, kind, measure, k)) for name in names for measure in (RIDE, TYRE)
            ]  # fmt: skip
            lines.append(f"| {situation} ({kind}) | " + " | ".join(cells) + " |")
    return lines


def aim(judged: Judged, share: float, best_of: Sequence[str]) -> list[str]:
    """Return what became of the aim, a sentence for each of our controllers and each kind of situation."""
    lines = []
    for kind in ("taught", "unforeseen"):
        base = judged.best(best_of, kind)
        for name in (one for one in OURS if one in judged.titles):
            ride, tyre = (judged.change(name, base, kind, measure) for measure in (RIDE, TYRE))
            lines.append(
                f"- {kind}, {judged.titles[name]} against {judged.titles[base]}: **{_met(ride, tyre, share)}** "
                f"(weighted acceleration {ride}, tyre-load variation {tyre})"
            )
    return lines


def conclusion(judged: Judged, share: float, best_of: Sequence[str]) -> list[str]:
    """Return in two sentences what to use, and whether the knowledge base meets the aim."""
    met = []
    for kind in ("taught", "unforeseen"):
        base = judged.best(best_of, kind)
        ride, tyre = (judged.change("knowledge_base", base, kind, measure) for measure in (RIDE, TYRE))
        met.append(_met(ride, tyre, share) == "met")
    kinds = [kind for kind, one in zip(("taught", "unforeseen"), met, strict=True) if one]
    where = "on taught and unforeseen roads" if all(met) else f"on {'-'.join(kinds)} roads alone"
    reached = f"The knowledge base meets the aim {where}." if kinds else "The knowledge base does not meet the aim."
    choice = Counter(one["recommended"] for one in judged.metrics).most_common(1)[0][0]
    return [f"**{reached} Of what was designed, use the {judged.titles[choice]}.**"]


def _met(ride: Change, tyre: Change, share: float) -> str:
    worse = tyre.low > 0.0
    if ride.value > -share:
        return "not met" + (", and the tyre load varies more" if worse else "")
    if worse:
        return "not met, as the tyre load varies reliably more"
    return "met" if ride.high <= -share else "met on the mean, not reliably"


def verdict(judged: Judged) -> list[str]:
    """Return what the designs recommend, whom to use by fitness, and what a schedule could win at most."""
    known = [name for name in judged.known() if name not in {"oracle", "two_degree", "knowledge_base_free"}]
    lines = [f"- Design {k}: {one['sentence']}{_rules(one)}" for k, one in enumerate(judged.metrics)]
    for kind in ("taught", "unforeseen"):
        j = {name: float(np.mean([one["controllers"][name]["fitness"][kind] for one in judged.metrics]))
             for name in [*known, "oracle"]}  # fmt: skip
        best = min(known, key=lambda name: j[name])
        equal = [judged.titles[name] for name in known if j[name] <= j[best] * (1.0 + NEAR)]
        gain = 100.0 * (j["oracle"] / j["fixed"] - 1.0)
        lines.append(
            f"- {kind.capitalize()}: lowest J {j[best]:.4g}, {judged.titles[best]}; within {100 * NEAR:g} % of it, to "
            f"be used alike, the simplest first: {', '.join(equal)}. Fixed gains chosen for each situation alone "
            f"change the fixed PID's J by {gain:+.1f} %: about what a schedule over anything slow could win."
        )
    return lines


def _rules(metrics: Mapping[str, Any]) -> str:
    counts = metrics.get("rules")
    return f" Rules left: {counts['equal']} at equal travel, {counts['free']} at free travel." if counts else ""
