"""Histories and spectra of the signals that a plant names (`Plant.shown`), from records of a design's contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import welch

from experiments.report.builders.scenes import shown_contenders, shown_places
from experiments.report.records.motion import SignalView
from experiments.runtime.tables import in_words
from plants.core.plant import plotted_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.report.builders.case import Case, Place
    from plants import Plant, Shown
    from plants.core.motion.trajectory import Trajectory

Recordings = dict[str, Any]
_SEGMENTS = 4  # of the run; with half overlap seven are averaged


def density(values: Any, step: float, segment: int = 0) -> tuple[Any, Any]:
    """Return frequencies [Hz] and the power spectral density of a signal [n] (its unit squared per Hz).

    Welch's method: Hann windows of `segment` samples, left out a quarter of the signal, half overlapping, each less
    its mean.
    """
    segment = segment or max(len(values) // _SEGMENTS, 8)
    frequency, power = welch(values, 1.0 / step, nperseg=min(segment, len(values)))
    return frequency[1:], power[1:]


def signal_parts(plant: Plant, run: Trajectory, end: float) -> Recordings:
    """Return what a record keeps of the named signals: samples up to the divergence in single precision, spectra."""
    if not plant.shown:
        return {}
    step = float(run.time[1] - run.time[0])
    alive = run.time < end
    parts: Recordings = {"shown.step": np.array([step])}
    for k, one in enumerate(plant.shown):
        values = run[plotted_quantity(plant, one.signal)[0]][alive]
        if one.span > 0.0:
            parts[f"shown.{k}"] = values.astype(np.float32)
        if one.spectrum > 0.0 and alive.all():
            frequency, power = density(values, step)
            seen = frequency <= one.spectrum
            parts[f"spectrum.{k}"] = np.stack([frequency[seen], power[seen]]).astype(np.float32)
    return parts


def signals(case: Case, recorded: Recordings) -> tuple[SignalView, ...]:
    """Return all curves; none where the plant names no signals."""
    found: list[SignalView] = []
    for place in shown_places(case) if case.plant.shown else ():
        names = [name for name in shown_contenders(case) if f"{name}.{place.overall}.shown.step" in recorded]
        for k, one in enumerate(case.plant.shown):
            found += _histories(case, place, names, k, recorded)
            found += _spectra(case.plant, one, place, names, [recorded.get(f"{n}.{place.overall}.spectrum.{k}")
                                                              for n in names])  # fmt: skip
    return tuple(found)


def _histories(case: Case, place: Place, names: Sequence[str], k: int, recorded: Recordings) -> list[SignalView]:
    one = case.plant.shown[k]
    _, what = plotted_quantity(case.plant, one.signal)
    kept = {name: recorded.get(f"{name}.{place.overall}.shown.{k}") for name in names}
    leading = [recorded.get(f"{name}.{place.overall}.shown.0") for name in names]
    found = []
    for name, values in kept.items():
        if values is None:
            continue
        step = float(recorded[f"{name}.{place.overall}.shown.step"][0])
        rows = busiest(next((v for v in leading if v is not None), values), round(min(one.span, 1e9) / step))
        drawn = np.asarray(values[rows], dtype=float)
        time = step * np.arange(rows.start, rows.start + len(drawn))
        found.append(SignalView(place.label, name, "history", in_words(one.signal), what.unit, time, drawn))
    return found


def busiest(values: Any, length: int) -> slice:
    """Return the piece of `length` steps in which a signal [n] varies most; the first such one."""
    n = len(values)
    if length >= n - 1:
        return slice(0, n)
    away = np.asarray(values, dtype=float) - float(np.mean(values))
    sums = np.concatenate([[0.0], np.cumsum(away * away)])
    start = int(np.argmax(sums[length + 1 :] - sums[: n - length]))
    return slice(start, start + length + 1)


def _spectra(plant: Plant, one: Shown, place: Place, names: Sequence[str], kept: Sequence[Any]) -> list[SignalView]:
    _, what = plotted_quantity(plant, one.signal)
    unit, name = f"({what.unit})²/Hz", in_words(one.signal)
    found = []
    for contender, values in zip(names, kept, strict=True):
        if values is None:
            continue
        frequency, power = np.asarray(values, dtype=float)
        found.append(SignalView(place.label, contender, "spectrum", f"density of {name}", unit, frequency, power))
        if one.weighting is not None:
            felt = power * np.abs(one.weighting(frequency)) ** 2
            title = f"{name}, weighted by {one.weighting_name}"
            found.append(SignalView(place.label, contender, "spectrum", title, unit, frequency, felt))
    return found
