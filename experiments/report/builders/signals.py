"""Histories and spectra of the signals that a plant names (`Plant.shown`), from records of a design's contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import welch

from experiments.report.builders.scenes import shown_places
from experiments.report.records.motion import NamedSignal
from experiments.runtime.tables import in_words
from plants.core.plant import plotted_quantity

if TYPE_CHECKING:
    from experiments.report.builders.case import FinishedDesign
    from experiments.report.recorded import Recordings
    from plants import Plant
    from plants.core.motion.trajectory import Trajectory

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


def signals(case: FinishedDesign, recorded: Recordings) -> tuple[NamedSignal, ...]:
    """Return what the plant names, with the weightings at the frequencies that were recorded."""
    return tuple(_named(case, k, recorded) for k in range(len(case.plant.shown)))


def _named(case: FinishedDesign, k: int, recorded: Recordings) -> NamedSignal:
    one = case.plant.shown[k]
    _, what = plotted_quantity(case.plant, one.signal)
    weights = {}
    if one.weighting is not None:
        for place in shown_places(case):
            names = (f"{contender}.{place.overall}.spectrum.{k}" for contender in case.contenders)
            spectrum = next((recorded[name] for name in names if name in recorded), None)
            if spectrum is not None:  # the frequencies are the same for all contenders
                weights[place.label] = np.abs(one.weighting(np.asarray(spectrum[0], dtype=float))) ** 2
    return NamedSignal(in_words(one.signal), what.unit, one.span, one.weighting_name, weights)
