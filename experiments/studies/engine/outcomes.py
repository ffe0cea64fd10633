"""What the contenders of one design did in drawn situations: computed once, and told in tables.

Tables say who stood, paired with the fixed gains, and how well where all stood. Arrays are stored in the design's
folder under the hash of the declaration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from experiments.runtime.tables import markdown_table, number
from experiments.studies.engine.changes import ends, percent, resampled, wilson
from sscq.verdict.bootstrap import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from experiments.runtime.run_folder import RunFolder
    from experiments.studies.engine.contenders import RivalController
    from sscq import Situation

    Array = np.ndarray
    Known = Mapping[str, RivalController]
    Stood = NDArray[np.bool_]


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


def cached(folder: RunFolder, stage: str, compute: Callable[[], dict[str, Array]], digest: str) -> dict[str, Array]:
    """Return arrays that are computed once for a declaration of the given digest; a stage of the design's folder."""
    return folder.stage(stage, lambda _: compute(), *formats.as_npz(f"{stage}.npz"), [digest])


BASE = "fixed"


def survival(stood: Mapping[str, Stood], titles: Mapping[str, str]) -> list[str]:
    """Return survival [situation] of contenders, paired with the fixed gains, as a table."""
    base, rows = stood[BASE], []
    for name, ours in stood.items():
        low, high = wilson(int(ours.sum()), len(ours))
        won, lost = int((ours & ~base).sum()), int((base & ~ours).sum())
        told = ["", "", ""] if name == BASE else [str(won), str(lost), difference(ours, base)]
        rows.append(
            [titles[name], f"{ours.sum()} of {len(ours)}",
             f"{100 * ours.mean():.1f} % [{100 * low:.1f}, {100 * high:.1f}]", *told]
        )  # fmt: skip
    head = ("controller", "stood", "share, Wilson interval", "stood where the fixed PID fell", "fell where it stood",
            "difference, points")  # fmt: skip
    return markdown_table(head, rows)


def difference(one: Stood, other: Stood) -> str:
    """Return the difference of shares with its bootstrap interval; situations are resampled, pairs stay together."""
    each = 100.0 * (one.astype(float) - other.astype(float))
    low, high = ends(each[resampled(len(each))].mean(axis=1))
    return f"{each.mean():+.1f} [{low:+.1f}, {high:+.1f}]"


def quality(
    values: Mapping[str, Mapping[str, Array]],
    stood: Mapping[str, Stood],
    titles: Mapping[str, str],
    measures: Mapping[str, str],
) -> list[str]:
    """Return means of measures where all contenders stood, with changes against the fixed gains, as a table.

    Parameters
    ----------
    values : mapping of contender to mapping of measure to ndarray [situation]
    stood : mapping of contender to ndarray [situation]
    titles : mapping of contender to str
    measures : mapping of measure to str
    """
    alive = np.all(list(stood.values()), axis=0)
    rows = []
    for name, own in values.items():
        cells = []
        for measure in measures:
            ours, base = own[measure][alive], values[BASE][measure][alive]
            told = "" if name == BASE else f" ({_changed(ours, base)})"
            cells.append(f"{number(float(ours.mean()))}{told}")
        rows.append([titles[name], *cells])
    return [
        f"Means over the {int(alive.sum())} of {len(alive)} situations in which all stood; changes against the fixed",
        "PID with 95 % bootstrap intervals of resampled situations, pairs together.", "",
        *markdown_table(("controller", *measures.values()), rows),
    ]  # fmt: skip


def _changed(ours: Array, base: Array) -> str:
    return percent(change(lambda v: v.mean(axis=-1), ours[:, None], base[:, None], resampled(len(ours))))
