"""What the contenders of one design did in drawn situations: computed once, and told in tables.

Tables say who stood, paired with the fixed gains, and how well where all stood. Arrays are stored in the design's
folder under the hash of the declaration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from experiments.runtime.tables import number
from sscq.verdict.bootstrap import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from experiments.runtime.run_folder import RunFolder
    from experiments.studies.engine.contenders import Contender
    from sscq import Situation

    Array = np.ndarray
    Known = Mapping[str, Contender]
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


def kept(folder: RunFolder, stage: str, compute: Callable[[], dict[str, Array]], digest: str) -> dict[str, Array]:
    """Return arrays that are computed once for a declaration of the given digest; a stage of the design's folder."""
    found: dict[str, Array] = folder.stage(
        stage, lambda _: compute(),
        lambda place, values: formats.write_npz(place / f"{stage}.npz", values),
        lambda place: formats.read_npz(place / f"{stage}.npz"),
        [digest],
    )  # fmt: skip
    return found


BASE = "fixed"
_DRAWS = 4000
_NORMAL = 1.959963984540054  # 97.5 % quantile


def wilson(hits: int, number_of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209)."""
    share, z2 = hits / number_of, _NORMAL**2
    middle = (share + z2 / (2 * number_of)) / (1 + z2 / number_of)
    half = _NORMAL / (1 + z2 / number_of) * math.sqrt(share * (1 - share) / number_of + z2 / (4 * number_of**2))
    return middle - half, middle + half


def lines_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table."""
    return [
        "| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(row) + " |" for row in rows)
    ]  # fmt: skip


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
    return lines_of(head, rows)


def _rows(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, n, (_DRAWS, n))


def difference(one: Stood, other: Stood) -> str:
    """Return the difference of shares with its bootstrap interval; situations are resampled, pairs stay together."""
    each = 100.0 * (one.astype(float) - other.astype(float))
    low, high = np.quantile(each[_rows(len(each))].mean(axis=1), (0.025, 0.975))
    return f"{each.mean():+.1f} [{low:+.1f}, {high:+.1f}]"


def fall_ratio(ours: Stood, base: Stood) -> tuple[float, float, float]:
    """Return the ratio of falls to the base's with its 95 % bootstrap interval; situations are resampled, in pairs.

    NaN where the base never falls.
    """
    rows = _rows(len(ours))
    falls, others = (~ours)[rows].sum(axis=1), (~base)[rows].sum(axis=1)
    if not (~base).any():
        return math.nan, math.nan, math.nan
    ratios = falls / np.where(others > 0, others, np.nan)
    low, high = np.nanquantile(ratios, (0.025, 0.975))
    return float((~ours).sum() / (~base).sum()), float(low), float(high)


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
        *lines_of(("controller", *measures.values()), rows),
    ]  # fmt: skip


def _changed(ours: Array, base: Array) -> str:
    return str(change(lambda v: v.mean(axis=-1), ours[:, None], base[:, None], _rows(len(ours))))
