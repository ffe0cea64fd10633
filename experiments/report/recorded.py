"""What the page takes from the recorded responses of a run: curves, moving pictures, the signals that a plant names.

Arrays are named "controller.situation.what", the situation by its number in the report.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.records.motion import Drive, SignalView
from experiments.report.records.situations import NotAvailable, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from experiments.report.records.motion import NamedSignal, PictureView
    from experiments.report.records.report_data import ReportData
    from experiments.report.records.results import ControllerResult
    from experiments.report.records.situations import SituationResult

Recordings = dict[str, Any]
Parts = dict[tuple[str, int], Recordings]

MOST = 12
"""Situations of one kind that are recorded."""

_NOT_KEPT = NotAvailable(f"of more than {MOST} situations of a kind, only the first and the costliest are recorded")
_OF_RESPONSE = ("time", "reference", "output", "command", "gains", "entropy_rates", "entropies", "seen")


def with_recordings(data: ReportData, recorded: Mapping[str, Any]) -> ReportData:
    """Return the report with the curves of its controllers.

    Raises
    ------
    ValueError
        If arrays that belong together are not all there, or differ in length.
    """
    parts = _by_run(recorded)
    return replace(
        data,
        controllers=tuple(_controller(data, controller, parts) for controller in data.controllers),
        picture=data.picture and _picture(data, data.picture, parts),
        signals=tuple(_signals(data, parts)),
    )


def _by_run(recorded: Mapping[str, Any]) -> Parts:
    parts: Parts = {}
    for name, values in recorded.items():
        controller, _, rest = name.partition(".")
        number, _, what = rest.partition(".")
        if number.isdecimal():
            parts.setdefault((controller, int(number)), {})[what] = values
    return parts


def _controller(data: ReportData, controller: ControllerResult, parts: Parts) -> ControllerResult:
    numbers = {situation.name: i for i, situation in enumerate(data.situations)}

    def result(one: SituationResult) -> SituationResult:
        found = parts.get((controller.key, numbers[one.situation]), {})
        return replace(one, response=_response(controller, found) if "time" in found else _NOT_KEPT)

    return replace(controller, results=tuple(map(result, controller.results)))


def _response(controller: ControllerResult, found: Recordings) -> Response:
    absent = [what for what in _OF_RESPONSE if what not in found]
    if absent:
        raise ValueError(f"a recorded response of {controller.key!r} must have {absent[0]!r}, which is not there")
    part = {what: np.asarray(found[what], dtype=float) for what in _OF_RESPONSE}
    n_c, seen = part["output"].shape[-1], part["seen"]
    return Response(
        time=part["time"],
        reference=part["reference"],
        output=part["output"],
        command=part["command"],
        gains=part["gains"],
        gain_names=controller.gain_names,
        entropy_rate_plant=part["entropy_rates"][:, 0],
        entropy_rate_controller=part["entropy_rates"][:, 1],
        entropy_plant=part["entropies"][:, 0],
        entropy_controller=part["entropies"][:, 1],
        error=seen[:, 0 : 2 * n_c : 2],
        error_rate=seen[:, 1 : 2 * n_c : 2],
    )


def _picture(data: ReportData, picture: PictureView, parts: Parts) -> PictureView | None:
    """The picture with its drives; None where nothing of it was recorded."""
    drives = []
    for i, situation in enumerate(data.situations):
        for controller in data.controllers:
            found = parts.get((controller.key, i), {})
            scene = {what.removeprefix("scene."): v for what, v in found.items() if what.startswith("scene.")}
            if scene:
                drives.append(Drive(situation.name, controller.key, float(scene.pop("step")[0]), scene))
    return replace(picture, drives=tuple(drives)) if drives else None


# ------------------------------------------------------------------------------------------ signals the plant names


def _signals(data: ReportData, parts: Parts) -> Iterator[SignalView]:
    """All curves: situation after situation, signal after signal, over time and then over frequency."""
    for i, situation in enumerate(data.situations):
        runs = {c.key: parts.get((c.key, i), {}) for c in data.controllers}
        runs = {key: found for key, found in runs.items() if "shown.step" in found}
        leading = next((found["shown.0"] for found in runs.values() if "shown.0" in found), None)
        for k, one in enumerate(data.plotted):
            yield from _histories(situation.name, one, k, runs, leading)
            yield from _spectra(situation.name, one, k, runs)


def _histories(
    situation: str, one: NamedSignal, k: int, runs: Mapping[str, Recordings], leading: Any
) -> Iterator[SignalView]:
    for key, found in runs.items():
        values = found.get(f"shown.{k}")
        if values is None:
            continue
        step = float(found["shown.step"][0])
        rows = busiest(values if leading is None else leading, round(min(one.span, 1e9) / step))
        drawn = np.asarray(values[rows], dtype=float)
        time = step * np.arange(rows.start, rows.start + len(drawn))
        yield SignalView(situation, key, "history", one.name, one.unit, time, drawn)


def busiest(values: Any, length: int) -> slice:
    """Return the piece of `length` steps in which a signal [n] varies most; the first such one."""
    n = len(values)
    if length >= n - 1:
        return slice(0, n)
    away = np.asarray(values, dtype=float) - float(np.mean(values))
    sums = np.concatenate([[0.0], np.cumsum(away * away)])
    start = int(np.argmax(sums[length + 1 :] - sums[: n - length]))
    return slice(start, start + length + 1)


def _spectra(situation: str, one: NamedSignal, k: int, runs: Mapping[str, Recordings]) -> Iterator[SignalView]:
    unit, weights = f"({one.unit})²/Hz", one.weights.get(situation)
    for key, found in runs.items():
        values = found.get(f"spectrum.{k}")
        if values is None:
            continue
        frequency, power = np.asarray(values, dtype=float)
        yield SignalView(situation, key, "spectrum", f"density of {one.name}", unit, frequency, power)
        if weights is not None:
            title = f"{one.name}, weighted by {one.weighting_name}"
            yield SignalView(situation, key, "spectrum", title, unit, frequency, power * weights)
