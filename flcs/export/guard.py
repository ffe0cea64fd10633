"""What an installed controller does about signals that cannot be trusted.

A number is trusted where it lies strictly inside its range; NaN and infinity never do. In place of one that does not,
its last trusted value is used. A measurement that does not move for a while is not trusted either. After a time of
uninterrupted distrust the controller trips: it goes to manual and moves to a safe command. After a time of
uninterrupted trust it goes back to automatic without a bump.

Its own states are looked at in every sample, too: one that cannot be right (NaN, infinite, beyond its range), as after
a fault of the memory, begins anew, and the controller trips at once and recovers as from a lost signal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controllers.settings import check, setting
from plants.core.elementary import abs as magnitude
from plants.core.elementary import minimum, where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flcs.export.machine import Slots

LARGEST = 1e15
"""Magnitude beyond which no signal is trusted: its products with gains stay finite in single precision as well."""
_REACHABLE = 1e25
"""Magnitude that no state reaches by trusted signals: their differences over a sample time, times gains."""


@dataclass(frozen=True)
class Guard:
    """Settings of the watch over an installed controller's inputs.

    Attributes
    ----------
    ranges : mapping of input to (low, high)
        Signals that are not named are trusted up to 1e15.
    ramp : float
        Infinite: at once.

    Raises
    ------
    ValueError
        If a time is negative or a range is empty.
    """

    ranges: Mapping[str, tuple[float, float]] = setting(
        dict, "where inputs are trusted, ends excluded: {angle: [-1, 1]}"
    )
    patience: float = setting(
        0.1, "uninterrupted distrust after which it goes to the safe command", unit="s", low=0, infinite=True
    )
    recovery: float = setting(
        1.0, "uninterrupted trust after which it goes back to automatic", unit="s", low=0, infinite=True, advanced=True
    )
    frozen_after: float | None = setting(
        None, "a measurement that stands still for so long is not trusted; null: it may", unit="s", above=0
    )
    ramp: float = setting(
        math.inf, "rate of commands in manual and to the safe one; null: at once; 0: they stay", unit="1/s", low=0,
        infinite=True, advanced=True)  # fmt: skip
    safe: tuple[float, ...] | None = setting(None, "safe command of each channel; null: the last one stays")

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self, "guard")
        for name, (low, high) in self.ranges.items():
            if not low < high:
                raise ValueError(f"guard: the range of {name} must be (low, high) with low < high, got {low}, {high}")

    def range_of(self, name: str) -> tuple[float, float]:
        """Return the ends between which a signal is trusted."""
        low, high = self.ranges.get(name, (-LARGEST, LARGEST))
        return max(low, -LARGEST), min(high, LARGEST)


def samples(time: float, sample_time: float) -> float:
    """Return the whole number of samples that last at least `time`, one at least."""
    return float(max(1, math.ceil(time / sample_time * (1.0 - 1e-9))))


def inside(value: Any, low: float, high: float) -> Any:
    """1 where a number lies strictly between two ends, else 0; 0 for NaN: a block."""
    return where(value - low, where(high - value, 1.0, 0.0), 0.0)


def trusted(m: Slots, name: str, guard: Guard) -> Any:
    """Whether an input is trusted (1 or 0); its last trusted value goes to the slot with ``last_`` before its name."""
    good = inside(m[name], *guard.range_of(name))
    m[f"last_{name}"] = where(good, m[name], m[f"last_{name}"])
    return good


def ranges(guard: Guard, sample_time: float) -> dict[str, tuple[float, float]]:
    """Return the ends, included, of the slots that :func:`judge` and :func:`note_authority` count and note in."""
    patience, recovery = samples(guard.patience, sample_time), samples(guard.recovery, sample_time)
    counts = {"bad_for": (0.0, patience), "good_for": (0.0, recovery)}
    return counts | dict.fromkeys(("tripped", "last_authority"), (0.0, 1.0))


def states_of(
    memory: Mapping[str, float], read: Iterable[str], inputs: Iterable[str], ranges: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float, float]]:
    """Return what :func:`mend` looks at: slots that are read and are no inputs, in the memory's order.

    Parameters
    ----------
    memory : mapping of slot to float
        What each begins with.
    read, inputs : iterable of str
    ranges : mapping of slot to (low, high)
        Ends included; the others are believed up to what trusted signals can make of them.
    """
    wanted, found = set(read) - set(inputs), {}
    for slot, start in memory.items():
        if slot in wanted:
            low, high = ranges.get(slot, (-_REACHABLE, _REACHABLE))
            width = 1e-6 * max(1.0, abs(low), abs(high))  # single precision rounds the ends
            found[slot] = (start, low - width, high + width)
    return found


def still(m: Slots, name: str, counter: str, guard: Guard, sample_time: float) -> Any:
    """1 where a measurement moved within `frozen_after`, else 0: a block."""
    before = m[f"last_{name}"]
    if guard.frozen_after is None:
        return 1.0
    limit = samples(guard.frozen_after, sample_time)
    unchanged = where(magnitude(m[name] - before), 0.0, minimum(m[counter] + 1.0, limit))
    m[counter] = unchanged
    return where(limit - 0.5 - unchanged, 1.0, 0.0)


def mend(m: Slots, states: Mapping[str, tuple[float, float, float]], guard: Guard, sample_time: float) -> Any:
    """Put states that cannot be right back to where they began; return 1 where there was none, else 0, and trip.

    Parameters
    ----------
    states : mapping of slot to (start, low, high)
        What a state begins with, and the ends between which it is believed.
    """
    sound: Any = 1.0
    for name, (start, low, high) in states.items():
        good = inside(m[name], low, high)
        m[name] = where(good, m[name], start)
        sound = where(good, sound, 0.0)
    if states:
        m["bad_for"] = where(sound, m["bad_for"], samples(guard.patience, sample_time))
    return sound


def judge(
    m: Slots,
    names: Iterable[str],
    moving: Mapping[str, str],
    guard: Guard,
    sample_time: float,
    states: Mapping[str, tuple[float, float, float]] | None = None,
) -> None:
    """Judge the inputs of a sample, all together: slots fault, tripped, and the last trusted value of each.

    Parameters
    ----------
    m : Slots
    names : iterable of str
        Inputs that must be trusted.
    moving : mapping of str to str
        Those of them that must not stand still, each with the slot that counts how long it has.
    guard : Guard
    sample_time : float
        [s].
    states : mapping of slot to (start, low, high), optional
        Of :func:`mend`: one that cannot be right trips at once.
    """
    sound = mend(m, states or {}, guard, sample_time)
    moved = [still(m, name, counter, guard, sample_time) for name, counter in moving.items()]
    good: Any = 1.0
    for word in (sound, *[trusted(m, name, guard) for name in names], *moved):
        good = good if isinstance(word, float) else where(word, good, 0.0)
    watch(m, good, guard, sample_time)


def watch(m: Slots, good: Any, guard: Guard, sample_time: float) -> None:
    """Count samples of trust and distrust, trip and recover: slots bad_for, good_for, fault, tripped."""
    patience, recovery = samples(guard.patience, sample_time), samples(guard.recovery, sample_time)
    bad_for = where(good, 0.0, minimum(m["bad_for"] + 1.0, patience))
    good_for = where(good, minimum(m["good_for"] + 1.0, recovery), 0.0)
    trips, recovers = bad_for - (patience - 0.5), good_for - (recovery - 0.5)
    m["tripped"] = where(m["tripped"], where(recovers, 0.0, 1.0), where(trips, 1.0, 0.0))
    m["fault"] = 1.0 - good
    m["bad_for"], m["good_for"] = bad_for, good_for


def note_authority(m: Slots) -> None:
    """Note the authority inside 0 .. 1, and 0 where it is no number: slot last_authority."""
    m["last_authority"] = where(m["authority"], where(1.0 - m["authority"], m["authority"], 1.0), 0.0)


def lead(share: Any, scheduled: Any, reference: float) -> Any:
    """Return a gain on the way from the reference to the scheduled one; at the full share it is that to the bit."""
    return where(1.0 - share, reference + share * (scheduled - reference), scheduled)
