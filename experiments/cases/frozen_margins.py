"""Margins of a stored controller about its plant's operating points, as `sscq certify` and `sscq worst` print them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.loop.spec import LoopSpec
from sscq.margins.operating import frozen_channels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.margins.margins import Margins
    from sscq.situations.situation import Situation

_SHOWN = ("sensitivity", "gain_margin", "gain_reduction", "phase_margin", "delay_margin")


def frozen_margins(
    plant: Plant, controller: Any, gains: np.ndarray, situations: Sequence[Situation], step: float
) -> list[dict[str, Any]]:
    """Return the worst margins of each channel over gain sets [n_sets, n_gains], operating points and plants.

    Each channel's loop is opened while the others are closed with their gains of the same set. Without operating points
    there are none.
    """
    if not plant.operating_points:
        return []
    rows = np.atleast_2d(gains)
    largest = np.maximum(np.abs(rows).max(axis=0), 1e-9)
    found = frozen_channels(LoopSpec(plant, controller, situations, step), [0.0] * rows.shape[1], largest.tolist())
    return [
        {"channel": channel.output, "gain_sets": len(rows), **_plain(margins.worst())}
        for channel, margins in zip(plant.channels, found.margins(rows), strict=True)
    ]


def _plain(worst: Margins) -> dict[str, Any]:
    """Numbers and where they are; None: beyond all limits."""
    values = {name: getattr(worst, name) for name in _SHOWN}
    return {
        "stable": worst.stable, "growth": worst.growth.value if math.isfinite(worst.growth.value) else None,
        **{name: one.value if math.isfinite(one.value) else None for name, one in values.items()},
        "at": {name: one.operating_point for name, one in values.items()},
    }  # fmt: skip


def words(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the margins as lines: one for each channel."""
    if not found:
        return []
    several = len(found) > 1
    opened = "; each channel's loop opened, the others closed with their gains of the same set" if several else ""
    sets = found[0]["gain_sets"]
    over = f"the worst over {sets} gain sets, " if sets > 1 else ""
    return [f"Margins of frozen gains, {over}operating points and plants{opened}:", *(_line(one) for one in found)]


def _line(one: dict[str, Any]) -> str:
    if not one["stable"]:
        return f"  {one['channel']}: UNSTABLE, grows with {one['growth']:.3g} 1/s"
    parts = [
        f"Ms {_number(one['sensitivity'])} at {one['at']['sensitivity']}",
        f"gain margin {_number(one['gain_margin'])}",
        f"gain reduction {_number(one['gain_reduction'])}",
        f"phase margin {_number(one['phase_margin'], math.degrees(1.0))} deg",
        f"delay margin {_number(one['delay_margin'])} s",
    ]
    return f"  {one['channel']}: {', '.join(parts)}"


def _number(value: float | None, factor: float = 1.0) -> str:
    return "inf" if value is None else f"{value * factor:.3g}"
