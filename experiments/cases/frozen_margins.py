"""Margins of a stored controller about its plant's operating points, as `sscq certify` and `sscq worst` print them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.margins.margins import Margins
    from sscq.situations.situation import Situation

_SHOWN = ("sensitivity", "gain_margin", "gain_reduction", "phase_margin", "delay_margin")


def frozen_margins(
    plant: Plant,
    controller: Any,
    theta: np.ndarray,
    situations: Sequence[Situation],
    step: float,
    *,
    in_passing: bool = True,
) -> list[dict[str, Any]]:
    """Return the worst margins of each channel over operating points and plants, at rest and in passing.

    Each channel's loop is opened while the others are closed with their gains of the same set. ``passing`` is missing
    where the gains stand still. Without operating points there are no margins.

    Parameters
    ----------
    theta : array [n_theta]
        Of the controller's schedule.
    in_passing : bool
        False: at rest alone, which is much less.
    """
    if not plant.operating_points:
        return []
    low, high = _box(controller, theta)
    asked = OperatingMargins(plant, controller, situations, step, low, high, MarginLimits())
    passing = asked.passing(controller, theta) if in_passing else ()
    found = []
    for number, (channel, margins) in enumerate(zip(plant.channels, asked.at_rest(controller, theta), strict=True)):
        found.append({"channel": channel.output, **_plain(margins.worst())})
        if passing:
            found[-1]["passing"] = _plain(passing[number])
    return found


def _box(controller: Any, theta: np.ndarray) -> tuple[list[float], list[float]]:
    """What gains the controller may give: it decides where the frequency grids are fine."""
    hull = controller.gain_hull.gains if hasattr(controller, "gain_hull") else np.atleast_2d(theta)
    largest = np.maximum(np.abs(hull).max(axis=0), 1e-9)
    return [0.0] * len(largest), largest.tolist()


def _plain(worst: Margins) -> dict[str, Any]:
    """Numbers and where they are; None: beyond all limits."""
    values = {name: getattr(worst, name) for name in _SHOWN}
    return {
        "stable": worst.stable, "growth": worst.growth.value if math.isfinite(worst.growth.value) else None,
        **{name: one.value if math.isfinite(one.value) else None for name, one in values.items()},
        "at": {name: one.operating_point for name, one in values.items()},
    }  # fmt: skip


def words(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the margins as lines: one for each channel, and one more where its gains move."""
    if not found:
        return []
    several = len(found) > 1
    opened = "; each channel's loop opened, the others closed with their gains of the same set" if several else ""
    lines = [f"Margins of frozen gains, the worst over operating points and plants{opened}:"]
    for one in found:
        lines.append(_line(one["channel"], one))
        if "passing" in one:
            lines.append(_line(f"{one['channel']}, gains in passing", one["passing"]))
    return lines


def _line(name: str, one: dict[str, Any]) -> str:
    if not one["stable"]:
        return f"  {name}: UNSTABLE, grows with {one['growth']:.3g} 1/s"
    parts = [
        f"Ms {_number(one['sensitivity'])} at {one['at']['sensitivity']}",
        f"gain margin {_number(one['gain_margin'])}",
        f"gain reduction {_number(one['gain_reduction'])}",
        f"phase margin {_number(one['phase_margin'], math.degrees(1.0))} deg",
        f"delay margin {_number(one['delay_margin'])} s",
    ]
    return f"  {name}: {', '.join(parts)}"


def _number(value: float | None, factor: float = 1.0) -> str:
    return "inf" if value is None else f"{value * factor:.3g}"
