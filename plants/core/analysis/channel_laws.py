"""What the law of a channel gets from the others and from its channel: its gains among all, its limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.quantities import Channel


def gains_of(laws: Sequence[Any], i: int) -> slice:
    """Return the places of channel `i`'s gains among those of all `laws` in turn."""
    first = sum(len(law.gain_names) for law in laws[:i])
    return slice(first, first + len(laws[i].gain_names))


def adopted_limits(law: Any, channel: Channel) -> tuple[float, float] | None:
    """Return the limits that a law without any of its own takes from its channel; None: it stays as it is.

    A law that has no such setting looks after itself.
    """
    free = getattr(law, "limits", ()) is None
    return (channel.low, channel.high) if free and (math.isfinite(channel.low) or math.isfinite(channel.high)) else None
