"""What the contenders of one design of the balancing vehicle do in the drawn situations; kept in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments import formats
from experiments.comparison.contenders import contenders
from experiments.run_folder import RunFolder
from experiments.vehicle_drawn import kind_of, slippery
from experiments.vehicle_lqr import Lqr

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.comparison.contenders import Contender
    from experiments.setup import Setup
    from experiments.vehicle_declaration import Declaration
    from sscq.baselines import Candidate

    Array = np.ndarray

MEASURES = ("iae", "slip_distance", "entropy_plant", "effort", "total_variation")


@dataclass(frozen=True)
class Verdict:
    """What one design's contenders did.

    Attributes
    ----------
    design : str
    titles : mapping of contender to str
    kinds : tuple of str
        Of the situations.
    stood : mapping of contender to ndarray of bool [situation]
    quality : mapping of contender to mapping of measure to ndarray [situation]
    """

    design: str
    titles: Mapping[str, str]
    kinds: tuple[str, ...]
    stood: Mapping[str, Array]
    quality: Mapping[str, Mapping[str, Array]]

    @property
    def on_slippery(self) -> Array:
        """Which situations have slippery ground [situation]."""
        return np.array([slippery(kind) for kind in self.kinds])

    def where(self, chosen: Array) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
        """Return who stood, and the measures, in some of the situations."""
        stood = {name: one[chosen] for name, one in self.stood.items()}
        return stood, {name: {m: v[chosen] for m, v in one.items()} for name, one in self.quality.items()}


def robots(run: Path, step: float, threads: int | None = None) -> dict[str, Contender]:
    """Return all contenders of a finished design, rolled out with a step [s]; LQR is searched here, once, and kept."""
    with RunFolder.resume(run, command="design") as folder:
        return contenders(folder, searched, step, threads)


def searched(job: Setup) -> list[Candidate]:
    """Return what is searched beside a design's own contenders."""
    limits = tuple((channel.low, channel.high) for channel in job.plant.channels)
    return [Lqr(limits, job.laws[0].sample_time or job.step).candidate()]


def judged(run: Path, declared: Declaration, threads: int | None = None) -> Verdict:
    """Return the verdict on a finished design; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = contenders(folder, searched, declared.drawn["step"], threads)
        arrays = folder.stage(
            "drawn", lambda _: _computed(known, declared),
            lambda place, values: formats.write_npz(place / "drawn.npz", values),
            lambda place: formats.read_npz(place / "drawn.npz"),
            [declared.digest],
        )  # fmt: skip
    return Verdict(
        run.name, {name: one.title for name, one in known.items()},
        tuple(kind_of(one) for one in declared.unforeseen()),
        {name: arrays[f"{name}.stood"].astype(bool) for name in known},
        {name: {m: arrays[f"{name}.{m}"] for m in MEASURES} for name in known},
    )  # fmt: skip


def _computed(known: Mapping[str, Contender], declared: Declaration) -> dict[str, Array]:
    situations = declared.unforeseen()
    found: dict[str, Array] = {}
    for name, one in known.items():
        outcome = one.outcome(situations, MEASURES)
        found |= {f"{name}.{key}": np.asarray(values, float) for key, values in outcome.items()}
    return found
