"""What the page takes from the stages of a run: recorded responses, moving pictures, named signals, search histories.

Arrays of the responses are named "controller.situation.what", the situation by its number in the report.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline import choice, search_results
from experiments.pipeline.bench import stage_name
from experiments.report.drawing.numbers import count
from experiments.report.records.learning import SearchHistory
from experiments.report.records.motion import Drive, NamedSignal, PictureView, SignalView
from experiments.report.records.results import Array, ControllerResult, NotAvailable, Response, SituationResult
from experiments.runtime import formats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from experiments.report.records.report_data import ReportData
    from sscq.baselines.tuned import Tuned
    from sscq.search.history import GenerationHistory

    Method = tuple[str, GenerationHistory]


Recordings = dict[str, Any]
Parts = dict[tuple[str, int], Recordings]

MOST = 12
"""Situations of one kind that are recorded."""

_NOT_KEPT = NotAvailable(f"of more than {MOST} situations of a kind, only the first and the costliest are recorded")
_OF_RESPONSE = tuple(field.name for field in fields(Response))


def mean_of(recorded: Mapping[str, Any], controller: str, what: str, situations: Sequence[int]) -> Array | None:
    """Return the mean of a controller's arrays of one name over situations; None where none of them was recorded."""
    keys = [f"{controller}.{i}.{what}" for i in situations]
    found = [recorded[key] for key in keys if key in recorded]
    return np.mean(found, axis=0) if found else None


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
    return Response(**{what: np.asarray(found[what], dtype=float) for what in _OF_RESPONSE})


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


STAGES = {
    "fixed_genetic": "fixed", "fixed_cmaes": "fixed", "two_degree": "two_degree",
    "tables": "table", "table_error": "table", "table_rate": "table", "table_output": "table",
    "hand_made_scaled": "hand_made_scaled", "lqi": "lqi", "knowledge_base_direct": "knowledge_base_direct",
    "knowledge_base_equal": "knowledge_base", "knowledge_base_free": "knowledge_base_free",
}  # fmt: skip
"""Stages that search, and the controllers that they serve, in the order of the run ("tables": earlier releases)."""

_METHODS = {
    "GeneticAlgorithm": "genetic algorithm",
    "CmaEs": "CMA-ES",
    "DifferentialEvolution": "differential evolution",
}


def histories(run: Path, titles: Mapping[str, str]) -> tuple[SearchHistory, ...]:
    """Return the searches of all rungs of the ladder and of the refinements, in the order of the run.

    Parameters
    ----------
    run : Path
        Folder of the run.
    titles : mapping of controller key to str
        What the controllers that were judged are called.
    """
    found: list[SearchHistory] = []
    for stage, key in STAGES.items():
        folder = delivered(run, stage, key)
        for entry in search_results.load(folder) if folder.is_dir() else []:
            # Several tables are searched; the one that was judged has the controller's title.
            served = "" if key == "table" and titles[key] != entry.title else key
            found += of_entry(entry, served)
    return tuple(found)


def delivered(run: Path, stage: str, controller: str) -> Path:
    """Return the folder of a stage of the search that a controller was taken from."""
    place = run / "stages" / (choice.STAGE_OF_FIXED if controller == "fixed" else choice.STAGE) / choice.FILE
    if not place.is_file():  # a design of one search
        return run / "stages" / stage
    order = formats.read_json(place)["order"]
    numbers = order if controller == "fixed" else order.get(controller, [0])
    return run / "stages" / stage_name(stage, int(numbers[0]))


def of_entry(entry: Tuned, key: str) -> list[SearchHistory]:
    """Return the searches behind an entry: one, or several that began at different places and shared the budget."""
    parts: list[list[Method]] = []
    labels: list[str] = []
    for name, history in entry.histories:
        label, method = search_results.parted(name)
        if not parts or label != labels[-1]:
            parts.append([])
            labels.append(label)
        parts[-1].append((method, history))
    origins = [f" {label}" if label.startswith("from") else f", {label}" for label in labels]
    names = [entry.title + (origin if len(parts) > 1 else "") for origin in origins]
    found = [_history(key, name, part) for name, part in zip(names, parts, strict=False)]
    return [history for history in found if history is not None]


def _history(key: str, name: str, part: Sequence[Method]) -> SearchHistory | None:
    """One search; methods that follow one another count their evaluations on, those of a name together."""
    columns: dict[str, list[Array]] = {"evaluations": [], "best": [], "mean": []}
    spent = 0.0
    used = dict[str, float]()
    for method, history in part:
        if not len(history.evaluations):
            continue
        columns["evaluations"].append(spent + history.evaluations)
        columns["best"].append(history.best)
        columns["mean"].append(history.mean)
        words, evaluations = method_words(method), float(history.evaluations[-1])
        used[words] = used.get(words, 0.0) + evaluations
        spent += evaluations
    if not used:
        return None
    places, best, mean = (np.concatenate(parts).astype(float) for parts in columns.values())
    return SearchHistory(
        name=f"{name}: {', then '.join(used)}",
        controller=key,
        evaluations=places,
        best=np.minimum.accumulate(best),
        mean=mean if key else None,
        text=", ".join(f"{method} {count(number)}" for method, number in used.items()),
        spent=tuple(used.items()),
    )


def method_words(name: str) -> str:
    """Return the name of a search method in words."""
    return _METHODS.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
