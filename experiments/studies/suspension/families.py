"""What each law can do at all: comfort against road holding for many of its settings, compared at equal tyre load."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from controllers import ConstantGains, Controller, gain_names
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.runtime.tables import markdown_table
from experiments.studies.engine.contenders import constants_as_theta, law_of_field, named_contenders
from experiments.studies.engine.series import cached, of_design
from plants.suspension import suspension
from plants.suspension.rivals import RIVALS
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plants import Plant, Rival


RIDE, TYRE = "ride_comfort", "tyre_load_variation"
GROUPS = {
    "taught": "Taught situations",
    "listed": "Unforeseen situations, listed",
    "drawn": "Unforeseen situations, drawn",
}


def group_of(kind: str, situation: str) -> str:
    """Return the group of a situation: what is not foreseen was listed or drawn."""
    if kind == "taught":
        return kind
    return "drawn" if situation.startswith("drawn: ") else "listed"


MEASURES = (RIDE, TYRE)
_BASES = (500.0, 1000.0, 1250.0, 1500.0, 1750.0, 2000.0, 2300.0, 2600.0)
_SHARES = (0.25, 0.5, 0.75, 1.0, 1.3)
_ALWAYS, _KEPT = ("low", "base"), ("crossover", "estimate")


@dataclass(frozen=True)
class Family:
    """Settings of one law: means of weighted acceleration and tyre-load variation by kind of situation, each [n]."""

    title: str
    ride: Mapping[str, np.ndarray]
    tyre: Mapping[str, np.ndarray]

    def front(self, kind: str) -> np.ndarray:
        """Return the places of settings that none other betters in both, from low tyre-load variation to high."""
        order = np.lexsort((self.ride[kind], self.tyre[kind]))
        least = np.minimum.accumulate(self.ride[kind][order])
        better = np.concatenate([[True], least[1:] < least[:-1]])
        return order[better]


def families(run: Path) -> dict[str, Family]:
    """Return the families of all laws of the field, and that of the fixed PID: shares of its gains, several bases.

    Computed once for a finished design `run`, then kept beside it.
    """

    def compute() -> dict[str, Any]:
        return {name: asdict(one) for name, one in _computed(run).items()}

    stored = cached(run.parent / "families.json", [of_design(run), _BASES, _SHARES], compute)
    ordered = [name for name in (*(RIVAL + rival.name for rival in RIVALS), "fixed") if name in stored]
    return {
        name: Family(stored[name]["title"], *(_arrays(stored[name][part]) for part in ("ride", "tyre")))
        for name in ordered
    }


def _arrays(lists: Mapping[str, Sequence[float]]) -> dict[str, np.ndarray]:
    return {kind: np.array(values) for kind, values in lists.items()}


def _computed(run: Path) -> dict[str, Family]:
    plant = suspension(unilateral=True)
    laws = {f"rival_{rival.name}": rival for rival in plant.rivals if rival.constants}
    tuned = named_contenders(run, ["fixed", *laws])
    fixed = tuned.pop("fixed")
    found = {
        name: _of_rival(plant, laws[name], one.theta[: 2 * len(laws[name].constants) : 2])
        for name, one in tuned.items()
    }
    gains = np.array(_SHARES)[:, None] * fixed.theta
    plants = (suspension(unilateral=True, base=base, together=True) for base in _BASES)
    parts = [_outcome(plant, _constant(fixed.controller), gains) for plant in plants]
    found["fixed"] = _joined("fixed PID, settings chosen together", parts)
    return found


def _constant(controller: Any) -> Controller:
    return Controller(controller.laws, ConstantGains(gain_names(controller.laws)))


def _of_rival(plant: Plant, rival: Rival, tuned: np.ndarray) -> Family:
    """Settings around the tuned constants [n_constants], as many as the fixed PID has."""
    driven, controller = law_of_field(plant, rival)
    theta = constants_as_theta(rival, controller, _around(rival, tuned))
    return _joined(rival.title, [_outcome(driven, controller, theta)])


def _around(rival: Rival, tuned: np.ndarray) -> np.ndarray:
    """Return constants [n, n_constants]: shares of the tuned ones beside several settings of what is always there."""
    names = [constant.name for constant in rival.constants]
    low, high = (np.array([getattr(c, end) for c in rival.constants]) for end in ("low", "high"))
    always = [k for k, name in enumerate(names) if name in _ALWAYS]
    scaled = [k for k, name in enumerate(names) if name not in _ALWAYS + _KEPT]
    found = [tuned]
    for share in _SHARES:
        for base in _BASES if always else np.array(_BASES) / 2000.0:
            one = tuned.copy()
            one[scaled] *= share
            one[always or scaled] = base if always else one[scaled] * base
            found.append(one)
    return np.clip(found, low, high)


def _outcome(plant: Plant, controller: Controller, theta: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Means over the situations of each kind, at their declared seeds."""
    result: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for kind in ("taught", "unforeseen"):
        situations = sscq.standard_sets(plant)[kind]
        quality = ClosedLoop(plant, controller, situations, plant.step, measures=MEASURES).evaluate(theta, None)
        ride, tyre = (quality.values[name].mean(axis=0) for name in MEASURES)
        result[kind] = ride, tyre
    return result


def _joined(title: str, parts: Sequence[dict[str, tuple[np.ndarray, np.ndarray]]]) -> Family:
    kinds = ("taught", "unforeseen")
    ride, tyre = ({kind: np.concatenate([part[kind][k] for part in parts]) for kind in kinds} for k in (0, 1))
    return Family(title, ride, tyre)


LEVELS = (0.14, 0.15, 0.155)
"""Tyre-load variations at which families are compared; dampers as built have 0.134 on the taught roads."""


def at_equal_tyre_load(
    found: Mapping[str, Family], best_of: Sequence[str], levels: Sequence[float] = LEVELS
) -> list[str]:
    """Return the least weighted acceleration of every family at tyre-load variations as Markdown lines.

    It is read off the family's front on the taught roads, between its settings linearly; the same settings are judged
    in the unforeseen situations. Changes are against the family of `best_of` with the lowest weighted acceleration when
    taught; a level that none of these reaches has none.
    """
    kinds = ("taught", "unforeseen")
    rows = []
    bases = [min(filter(None, (_outcomes(found[name], level) for name in best_of)), default=None) for level in levels]
    for family in found.values():
        cells = []
        for level, base in zip(levels, bases, strict=True):
            own = _outcomes(family, level)
            if own is None or base is None:
                cells += ["-" if own is None else f"{own[0]:.4f}", "-"]
                continue
            cells.append(f"{own[0]:.4f} ({100 * (own[0] / base[0] - 1.0):+.1f} %)")
            ride, tyre = (100 * (own[k] / base[k] - 1.0) for k in (1, 2))
            cells.append(f"{ride:+.1f} %, tyre load {tyre:+.1f} %")
        rows.append([family.title, *cells])
    return markdown_table(["law", *(f"at most {level:g}: {kind}" for level in levels for kind in kinds)], rows)


def _outcomes(family: Family, level: float) -> tuple[float, float, float] | None:
    """Weighted acceleration taught and unforeseen, and tyre-load variation unforeseen; None out of the law's reach."""
    front = family.front("taught")
    tyre = family.tyre["taught"][front]
    if level < tyre[0]:
        return None
    shown = (family.ride["taught"], family.ride["unforeseen"], family.tyre["unforeseen"])
    ride, elsewhere, load = (float(np.interp(level, tyre, values[front])) for values in shown)
    return ride, elsewhere, load
