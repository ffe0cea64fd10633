"""Quality measures of a plant's own: what the built-in ones cannot say, accumulated with the closed loop.

A measure has states of its own (filters, peaks, running integrals), which a block moves once in every integration step,
and a function that reads one number off them when the run is over. A plant declares its measures; a closed loop carries
those that are asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Measure:
    """A number that says how well a closed loop did, in the plant's own terms.

    Attributes
    ----------
    name : str
        A Python name, as in ``quality["ride_comfort"]``.
    unit : str
        Of the value.
    update : callable
        ``(t, x, u, w, p, m, h)`` to the new states of the measure [n_m]: executed once per integration step, at its
        start, so that sums are left sums. `t`, `x`, `u`, `w`, `p` are as for the plant's blocks, `u` being the inputs
        that reach the plant; `m` holds the states of the measure. It is traced, as they are. `h` is the step [s] as a
        plain number: coefficients of filters may be computed from it in any way.
    value : callable
        ``(m, time)`` to the number, with NumPy after the run: `m` is a tuple of one array for each state, `time` [s] an
        array that tells how long each rollout was measured: the horizon, or up to its divergence. Never 0.
    text : str
        One line that says what it is.
    states : int or tuple of str
        How many states of its own, or their names.
    initial : tuple of float
        Their values at the start; left empty: 0.
    memory : tuple of str
        Those of the states that go on when a rollout is continued from a snapshot, as filters do. The others start
        again, as sums and peaks do, so that each window of a long run has its own value.
    scale : float
        A value that counts as large [unit]: makes weights in a fitness comparable.
    less_is_better : bool or None
        None: neither, as of a number that is only looked at.
    references : bool
        Whether `update` takes the references of the plant's channels, `r` [n_channels], as one more argument behind
        `h`: for errors that are not those of the measured outputs, such as of a speed that sensors do not know.

    Raises
    ------
    ValueError
        Where the declaration contradicts itself.
    """

    name: str
    unit: str
    update: Callable[..., Any]
    value: Callable[[Any, Any], Any]
    text: str = ""
    states: int | tuple[str, ...] = 1
    initial: tuple[float, ...] = ()
    memory: tuple[str, ...] = ()
    scale: float = 1.0
    less_is_better: bool | None = True
    references: bool = False

    def __post_init__(self) -> None:
        """Give states names and initial values, and check the declaration."""
        if isinstance(self.states, int):
            object.__setattr__(self, "states", tuple(f"m{k}" for k in range(self.states)))
        if not self.initial:
            object.__setattr__(self, "initial", (0.0,) * self.n_states)
        _check(self)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.states if isinstance(self.states, int) else len(self.states)

    @property
    def remembered(self) -> tuple[bool, ...]:
        """Whether each state goes on when a rollout is continued."""
        assert not isinstance(self.states, int)  # noqa: S101  (named above; for the type checker)
        return tuple(name in self.memory for name in self.states)

    def updated(self, t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float, r: Any = ()) -> tuple[Any, ...]:
        """Return the new states, or raise where the block gives another number of them; `r` are the references."""
        result = self.update(t, x, u, w, p, m, h, *((r,) if self.references else ()))
        new = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(new) != self.n_states:
            raise ValueError(
                f"update of the measure {self.name!r} must return {self.n_states} states, got {len(new)}; give the "
                "measure as many `states` as its update returns"
            )
        return new


def _check(measure: Measure) -> None:
    what = f"measure {measure.name!r}"
    if not measure.name.isidentifier():
        raise ValueError(f"{what}: the name must be a Python name, such as 'ride_comfort'")
    names = measure.states
    if isinstance(names, int) or not names or len(set(names)) != len(names):
        raise ValueError(f"{what} needs at least one state, with names that differ, got {names}")
    if len(measure.initial) != len(names) or not all(math.isfinite(value) for value in measure.initial):
        raise ValueError(f"{what}: initial must be {len(names)} finite numbers, got {measure.initial}")
    unknown = [name for name in measure.memory if name not in names]
    if unknown:
        raise ValueError(f"{what}: memory names {unknown[0]!r}, which is none of its states {', '.join(names)}")
    if not 0.0 < measure.scale < math.inf:
        raise ValueError(f"{what}: scale must be positive and finite, got {measure.scale}")


def check_names(measures: Sequence[Measure], plant: str) -> None:
    """Raise ValueError where two measures of a plant have one name."""
    names = [measure.name for measure in measures]
    if len(set(names)) != len(names):
        raise ValueError(f"plant {plant!r}: names of measures must differ, got {names}")
