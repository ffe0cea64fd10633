"""What a signal is: a sum of parts, of which a constant is the plainest; and what the numbers of a part must be.

To write a kind of part: subclass :class:`Part`, give it `settings` and `value`, one with jumps `last_jump`; a random
kind subclasses :class:`RandomPart` and has `advance` and `start`, too. One with a known law says it in `claim`, against
which its samples can be held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.signals import noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.signals.stationary_law import StationaryLaw


def check_finite(name: str, **values: float) -> None:
    """Raise ValueError naming the part `name` and the value that is no finite number."""
    for label, value in values.items():
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ValueError(f"{name}: {label} must be a finite number, got {value!r}")


def check_positive(name: str, **values: float) -> None:
    """Raise ValueError naming the part `name` and the value that is no finite number above 0."""
    check_finite(name, **values)
    for label, value in values.items():
        if value <= 0.0:
            raise ValueError(f"{name}: {label} must be positive, got {value!r}")


TIME_TOLERANCE = 1e-9  # s: a jump declared at a multiple of the step happens at that step despite rounding


def number_or_tuple(values: tuple[Any, ...]) -> Any:
    """Return a state or a unit sample as a part takes it: a number where it is one."""
    return values[0] if len(values) == 1 else values


@dataclass(frozen=True)
class Feed:
    """What refreshes a random part's row: the kind of unit sample, its period and, if recorded, the values.

    Attributes
    ----------
    code : int
        Of :mod:`plants.core.signals.noise`.
    every : float or None
        Period [s]; None: each step.
    series : tuple of float
        Recorded values.
    substeps : int
        Samples in each step.
    shared : tuple of str
        Names of the streams, one per unit, where parts of several signals draw the same numbers; empty: each part
        draws its own.
    ahead : int
        Samples by which the part is ahead of those streams.
    """

    code: int
    every: float | None = None
    series: tuple[float, ...] = ()
    substeps: int = 1
    shared: tuple[str, ...] = ()
    ahead: int = 0


@dataclass(frozen=True)
class Part:
    """One summand of a signal.

    Class attributes: `n_settings` numbers fix it per rollout; `jumps` says that it is held from the start of a step;
    `random` that it has a state, of `n_states` numbers, fed by `n_units` independent streams of unit noise. State and
    unit noise are plain numbers where they are one, else tuples. Settings that are all 0 must keep a state of 0 and
    give the value 0: so are parts that a situation does not have.
    """

    n_settings: ClassVar[int] = 0
    n_states: ClassVar[int] = 1
    n_units: ClassVar[int] = 1
    jumps: ClassVar[bool] = False
    random: ClassVar[bool] = False

    def settings(self, step: float) -> tuple[float, ...]:
        """Return the part's numbers for integration step `step` [s]."""
        raise NotImplementedError

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:
        """Return the part's value at time `t` [s] (a block); `state` is the held value of a random part."""
        raise NotImplementedError

    def feed(self, step: float) -> Feed:  # noqa: ARG002
        """Return what feeds a random part."""
        return Feed(noise.OFF)

    @staticmethod
    def advance(state: Any, unit: Any, settings: Sequence[Any]) -> Any:  # noqa: ARG004
        """Return the random part's next state from a sample of unit noise (a block)."""
        return unit

    def start(self, unit_gaussian: Any, unit_uniform: Any) -> Any:  # noqa: ARG002
        """Return the stationary initial state of a random part, from one sample of each unit noise.

        A part with several states gets tuples of `n_states` samples and returns a tuple. The two kinds of samples are
        made of the same numbers: use one of them.
        """
        return 0.0

    def begin(self, name: str, seed: int, step: float) -> Any:  # noqa: ARG002
        """Return the initial state of a part that shares its numbers with others (:attr:`Feed.shared`).

        None, for a part of its own: it begins in `start`.
        """
        return None

    def claim(self, step: float) -> StationaryLaw:  # noqa: ARG002
        """Return the law that the part claims for its samples at integration step `step` [s]."""
        message = (
            f"{type(self).__name__} claims no law: say what law its samples have, or what they are to be held against"
        )
        raise ValueError(message)

    def last_jump(self) -> float:
        """Return the time [s] of the last jump: errors weighted with time count from here."""
        return 0.0

    def __add__(self, other: Any) -> Signal:
        return as_signal(self) + other

    __radd__ = __add__


@dataclass(frozen=True)
class RandomPart(Part):
    """A part whose state is held from the start of a step; if no `feed` says otherwise, driven by Gaussian samples."""

    jumps: ClassVar[bool] = True
    random: ClassVar[bool] = True

    def substeps(self, step: float) -> int:  # noqa: ARG002
        """Return how many filter steps fit one integration step."""
        return 1

    def feed(self, step: float) -> Feed:
        """Return what feeds it: a Gaussian sample in every sub-step."""
        return Feed(noise.GAUSSIAN, substeps=self.substeps(step))


@dataclass(frozen=True)
class Signal:
    """A sum of parts."""

    parts: tuple[Part, ...] = ()

    def __add__(self, other: Any) -> Signal:
        return Signal(self.parts + as_signal(other).parts)

    __radd__ = __add__

    def last_jump(self) -> float:
        """Return the time [s] of the last jump."""
        return max((part.last_jump() for part in self.parts), default=0.0)

    def at(self, t: float) -> float:
        """Return the value of the non-random parts at time `t` [s]."""
        return float(sum(part.value(t, part.settings(1.0), 0.0) for part in self.parts if not part.random))


def as_signal(value: Signal | Part | float | None) -> Signal:
    """Return a number, a part or None as a signal."""
    if isinstance(value, Signal):
        return value
    if isinstance(value, Part):
        return Signal((value,))
    if value is None:
        return Signal()
    if isinstance(value, Real) and math.isfinite(value):
        return Signal((Constant(float(value)),)) if value else Signal()
    raise ValueError(
        "a signal is a finite number, a part such as Step(1.0) or WhiteNoise(variance=0.1) of plants.excitation, or a "
        f"sum of parts; got {value!r}"
    )


@dataclass(frozen=True)
class Constant(Part):
    """A constant."""

    level: float
    n_settings: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_finite("Constant", level=self.level)

    def settings(self, step: float) -> tuple[float, ...]:  # noqa: ARG002
        """Level."""
        return (self.level,)

    @staticmethod
    def value(t: Any, settings: Sequence[Any], state: Any) -> Any:  # noqa: ARG004
        """Level."""
        return settings[0]
