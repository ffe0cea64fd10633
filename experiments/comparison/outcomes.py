"""What the contenders of one design did in situations: computed once, kept in the design's folder, read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.comparison.contenders import Contender
    from experiments.run_folder import RunFolder
    from sscq import Situation

    Array = np.ndarray
    Known = Mapping[str, Contender]


@dataclass(frozen=True)
class Outcomes:
    """What the contenders of one design did.

    Attributes
    ----------
    design : str
    titles : mapping of contender to str
    stood : mapping of contender to ndarray of bool [situation]
    quality : mapping of contender to mapping of measure to ndarray [situation]
    """

    design: str
    titles: Mapping[str, str]
    stood: Mapping[str, Array]
    quality: Mapping[str, Mapping[str, Array]]


def arrays_of(known: Known, situations: Sequence[Situation], measures: Sequence[str]) -> dict[str, Array]:
    """Return who stood, and measures [situation], as arrays named "contender.what"."""
    return {
        f"{name}.{what}": np.asarray(values, float)
        for name, one in known.items()
        for what, values in one.outcome(situations, measures).items()
    }


def read(known: Known, arrays: Mapping[str, Array], measures: Sequence[str]) -> dict[str, Any]:
    """Return the fields of `Outcomes` but the design's name from such arrays."""
    return {
        "titles": {name: one.title for name, one in known.items()},
        "stood": {name: arrays[f"{name}.stood"].astype(bool) for name in known},
        "quality": {name: {m: arrays[f"{name}.{m}"] for m in measures} for name in known},
    }


def kept(folder: RunFolder, stage: str, compute: Callable[[], dict[str, Array]], digest: str) -> dict[str, Array]:
    """Return arrays that are computed once for a declaration of the given digest; a stage of the design's folder."""
    found: dict[str, Array] = folder.stage(
        stage, lambda _: compute(),
        lambda place, values: formats.write_npz(place / f"{stage}.npz", values),
        lambda place: formats.read_npz(place / f"{stage}.npz"),
        [digest],
    )  # fmt: skip
    return found
