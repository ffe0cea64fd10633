"""PID blocks that are not ours: gains as such a block takes them, and the loop closed with one, against our own law.

Forms, as a block without a branch and without a division by a small number: where the form cannot say what the gains
are, it says the nearest controller it has, and a flag says so.

standard (ISA, non-interacting)   u = K (e + 1/Ti int e + Td e'),        K = kp, Ti = kp / ki, Td = kd / kp
series (interacting)              u = Ks (1 + 1/(Tis s)) (1 + Tds s) e,  the same zeros; real ones need Ti >= 4 Td

In the loop three things may differ from our law: the block may store the integral of the error (a change of ki then
jumps), its form may not say all gains (K, Ti, Td within their limits), and the series form has real zeros alone.

Source: K. J. Astrom and T. Hagglund, Advanced PID Control (ISA, 2006), sec. 3.3 and 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from controllers import Controller, ErrorIntegralPID
from controllers.settings import check, setting
from flcs import FuzzyController
from plants.core.elementary import maximum, minimum, sqrt, where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controllers.protocols import Law, Number, Numbers, Schedule
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.situations.situation import Situation


_FOREVER = 1e9
_SECONDS = {"s": 1.0, "min": 60.0}
_SMALLEST = 1e-6  # of the box: a smaller K has no Ti and Td
_ROUNDING = 1e-6  # relative: a double zero (Ti = 4 Td) must survive rounding, to single precision too


@dataclass(frozen=True)
class VendorForm:
    """How the block wants its times.

    Raises
    ------
    ValueError
        For another unit, or a longest time that is not positive or not below 1e9.
    """

    unit: str = setting("s", "unit of Ti and Td", choices=tuple(_SECONDS))
    longest: float = setting(9999.0, "largest Ti and Td, in that unit: Ti where ki goes to 0", above=0, advanced=True)

    def __post_init__(self) -> None:
        """Check."""
        check(self, "times of a PID block")
        if self.longest >= _FOREVER:
            raise ValueError(f"the longest time of a PID block must be below {_FOREVER:g}, got {self.longest}")

    @property
    def longest_seconds(self) -> float:
        """Largest time [s]."""
        return self.longest * _SECONDS[self.unit]


NAMES = ("K", "Ti", "Td", "standard", "Ks", "Tis", "Tds", "series")
"""What :func:`forms` returns: of the standard form, then (Ks, Tis, Tds) of the series form; times in the block's unit.

Behind each form: 1 where it says the scheduled gains (Ti at its longest counts as no integral action), else 0.
"""


def sense(low: float, high: float, reference: float) -> float:
    """Sign of K, one for the whole schedule: the reference gain's, or where that is 0 the larger end's of the box."""
    value = reference or (high if abs(high) >= abs(low) else low)
    return -1.0 if value < 0.0 else 1.0


def forms(gains: Sequence[Any], box: tuple[float, float, float], how: VendorForm) -> tuple[Any, ...]:
    """Return the numbers of :data:`NAMES` for the gains kp, ki, kd [u/y, u/(y s), u s/y]: a block.

    Parameters
    ----------
    gains : sequence of number, array or traced number
        kp, ki, kd.
    box : (low, high, reference)
        Of kp.
    how : VendorForm
    """
    sign, longest = sense(*box), how.longest_seconds
    smallest = _SMALLEST * max(abs(box[0]), abs(box[1]), 1e-9)
    p, i, d = (sign * gain for gain in gains[:3])
    size = maximum(p, smallest)
    integral = size / maximum(i, size * (1.0 / longest))
    wanted = maximum(d, 0.0) / size
    derivative = minimum(wanted, longest)
    good = where(smallest - p, 0.0, where(-i, 0.0, where(-d, 0.0, where(wanted - longest, 0.0, 1.0))))
    ratio = 4.0 * derivative / integral
    share = 0.5 * (1.0 + sqrt(maximum(1.0 - ratio, 0.0)))
    unit = 1.0 / _SECONDS[how.unit]
    series_derivative = minimum(derivative, 0.25 * integral) / share
    return (
        sign * size, integral * unit, derivative * unit, good,
        sign * size * share, integral * share * unit, series_derivative * unit,
        where(ratio - (1.0 + _ROUNDING), 0.0, good),
    )  # fmt: skip


OURS = "own law"
_MEASURES = ("iae", "total_variation", "overshoot")
_LEAST = 1e-9  # of the largest value: below it a ratio says nothing


@dataclass(frozen=True)
class VendorSchedule:
    """Gains as a block makes them of K, Ti, Td; see :class:`controllers.Schedule`.

    Attributes
    ----------
    inner : Schedule
        The knowledge base's.
    boxes : tuple of (low, high, reference)
        Of each channel's kp.
    form : VendorForm
    kind : {"standard", "series"}
    """

    inner: Schedule
    boxes: tuple[tuple[float, float, float], ...]
    form: VendorForm
    kind: str

    def __getattr__(self, name: str) -> Any:
        """Return what it shares with the schedule inside."""
        if name in {"n_states", "theta_names", "tick", "signals", "initial", "gain_names"}:
            return getattr(self.inner, name)
        raise AttributeError(name)

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the block's gains at this tick and the new state: a block."""
        values, state = self.inner.gains(t, s, k, theta)
        own: list[Number] = []
        for place, box in enumerate(self.boxes):
            own += as_parallel(forms(values[3 * place : 3 * place + 3], box, self.form), self.form, self.kind)
        return tuple(own), state


def as_parallel(values: Numbers, form: VendorForm, kind: str) -> Numbers:
    """Return kp, ki, kd of a form's numbers, in the order of :data:`flcs.export.pid_block.NAMES`: a block."""
    second = form.longest_seconds / form.longest
    gain, integral, derivative = values[4:7] if kind == "series" else values[:3]
    integral, derivative = integral * second, derivative * second
    factor = 1.0 + derivative / integral if kind == "series" else 1.0
    return gain * factor, gain / integral, gain * derivative


def blocks(kb: KnowledgeBase, form: VendorForm) -> dict[str, Any]:
    """Return the controllers that are compared, by what they are; ours first.

    Raises
    ------
    ValueError
        If the knowledge base schedules more than kp, ki and kd, which no such block takes.
    """
    ours = FuzzyController(kb).frozen()
    for base in kb.channels:
        if len(base.gain_names) != 3:
            raise ValueError(
                f"PID blocks take kp, ki, kd; channel {base.name!r} schedules {', '.join(base.gain_names)}"
            )
    boxes = tuple((base.low[0], base.high[0], base.reference[0]) for base in kb.channels)
    standard, series = (VendorSchedule(ours.schedule, boxes, form, kind) for kind in ("standard", "series"))
    gathers = tuple(map(of_error, ours.laws))
    return {
        OURS: ours,
        "parallel, integral of e": Controller(gathers, ours.schedule),
        "K, Ti, Td standard, integral of K e / Ti": Controller(ours.laws, standard),
        "K, Ti, Td standard, integral of e": Controller(gathers, standard),
        "K, Ti, Td series, integral of K e / Ti": Controller(ours.laws, series),
    }


def of_error(law: Law) -> Any:
    """Return the law with the same settings that stores the integral of the error."""
    settings = {f.name: getattr(law, f.name) for f in fields(ErrorIntegralPID)}
    return ErrorIntegralPID(**{**settings, "initial_command": 0.0})


def judged(
    kb: KnowledgeBase, plant: Plant, situations: Sequence[Situation], step: float, form: VendorForm,
    integrator: str = "rk4",
) -> dict[str, Any]:  # fmt: skip
    """Simulate every block in every situation.

    Returns
    -------
    dict
        ``situations``: names; ``blocks``: for each its measures (``iae``, ``total_variation``, ``overshoot``) and
        ``diverged_at`` [s], lists in the situations' order.
    """
    found: dict[str, Any] = {}
    for name, controller in blocks(kb, form).items():
        quality = sscq.evaluate(
            plant, controller, np.empty((1, 0)), situations, step, integrator, measures=_MEASURES, threads=1
        )
        columns = {measure: getattr(quality, measure)[:, 0] for measure in (*_MEASURES, "diverged_at")}
        found[name] = {measure: [_plain(v) for v in values] for measure, values in columns.items()}
    return {"situations": [situation.name for situation in situations], "blocks": found}


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def rows(found: Mapping[str, Any]) -> list[list[str]]:
    """Return the comparison as rows of text: mean and largest ratio to our law of error and of travel, divergences."""
    ours, table = found["blocks"][OURS], []
    for name, block in found["blocks"].items():
        cells = [name]
        for measure in ("iae", "total_variation"):
            ratios = _ratios(block, ours, measure)
            cells += [f"{np.mean(ratios):.3f}", f"{np.max(ratios):.3f}"] if len(ratios) else ["-", "-"]
        table.append([*cells, str(sum(time is not None for time in block["diverged_at"]))])
    return table


HEAD = ["block", "IAE, mean", "IAE, worst", "travel, mean", "travel, worst", "diverged"]


def _ratios(block: Mapping[str, Any], ours: Mapping[str, Any], measure: str) -> np.ndarray:
    """Ratios to our law in situations that both survive."""
    stayed = [a is None and b is None for a, b in zip(block["diverged_at"], ours["diverged_at"], strict=True)]
    both = [(a, b) for a, b, s in zip(block[measure], ours[measure], stayed, strict=True) if s and a is not None and b]
    largest = max((b for _, b in both), default=1.0)
    return np.array([a / b for a, b in both if b > _LEAST * largest])
