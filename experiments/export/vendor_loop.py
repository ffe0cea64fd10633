"""The closed loop with a PID block that is not ours, its gains from our scheduler: judged against our own law.

Three things may differ there: the block may store the integral of the error (a change of ki then jumps), its form may
not say all gains (K, Ti, Td within their limits), and the series form has real zeros alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.export.vendor_forms import VendorForm, forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controllers.protocols import Law, Number, Numbers, Schedule
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.situation import Situation

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
            own += as_parallel(forms(values[3 * place : 3 * place + 3], box, self.form).values, self.form, self.kind)
        return tuple(own), state


def as_parallel(values: Numbers, form: VendorForm, kind: str) -> Numbers:
    """Return kp, ki, kd of a form's numbers, in the order of :data:`experiments.export.vendor_forms.NAMES`: a block."""
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
    from controllers import Controller
    from flcs import FuzzyController

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
    from controllers import ErrorIntegralPID

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
    import sscq

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
