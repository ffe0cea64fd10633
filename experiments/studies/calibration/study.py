"""Whether promises from logs hold, on loops of eleven kinds that no model of ours has made.

    python -m experiments.studies calibration                 # all loops, and the page
    python -m experiments.studies calibration 0 11            # the first eleven, printed only

Every loop is drawn by its number; its log is read and assessed as by `sscq commission`, and once more by least squares,
as most tools do. The truth is the plant itself, simulated in the scenario of the promise. What was found is kept in the
folder of the template, and gone on with; several processes may share the loops.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.calibration.least_squares import fitted
from experiments.studies.calibration.loops import KINDS, REST, DrawnPlant, careful_gains, closed
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from sscq.identification.advice import advise
from sscq.identification.assessing.assessment import assess
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.promise import default_scenario
from sscq.identification.reading.log import Log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sscq.identification.advice import Advice
    from sscq.identification.promise import LoopScenario

    Array = np.ndarray

LENGTH = 600.0
LOGS = ("several steps", "bump in manual", "one step", "quiet")
_SHARES = (0.5, 0.2, 0.2, 0.1)  # of the loops
UNRELATED = "unrelated"
"""A log whose measured values are another loop's: every twentieth."""

_EVERY = 20
_WORSE, _SEEDS = 0.05, 3  # of the true error; draws of noise in the truth


@dataclass(frozen=True)
class CalibratedLoop:
    """What was said of a loop, and what is true.

    Attributes
    ----------
    number : int
    kind, log : str
        Of the plant, and of the moves in the log.
    status, reason : str
    low, median, high : float or None
        Promised improvement.
    true : float or None
        Improvement of the plant itself; minus infinity is null with `lost`.
    lost : bool
        Whether the plant's own loop runs away with the gains, also with 15 % more gain and dead time.
    least_squares : CalibratedLoop, optional
        What least squares says of the same loop.
    """

    number: int
    kind: str
    log: str
    status: str
    reason: str
    low: float | None = None
    median: float | None = None
    high: float | None = None
    true: float | None = None
    lost: bool = False
    least_squares: CalibratedLoop | None = None

    @property
    def covered(self) -> bool | None:
        """Whether the interval covers the truth; None where nothing was promised."""
        if self.low is None or self.high is None:
            return None
        return self.true is not None and self.low <= self.true <= self.high


def drawn_log(number: int) -> tuple[DrawnPlant, tuple[float, float], Log, str]:
    """Return a loop's plant, its present gains, its log, and which moves that has."""
    rng = np.random.default_rng([20261126, number])
    plant = KINDS[number % len(KINDS)](rng)
    kind = str(rng.choice(LOGS, p=_SHARES))
    step = float(rng.choice([0.5, 1.0]))
    n = round(LENGTH / step)
    gains = careful_gains(plant, float(rng.uniform(0.3, 1.6)))
    set_point, manual = np.full(n, REST), np.full(n, np.nan)
    places = rng.uniform(0.05, 0.85, {"several steps": int(rng.integers(2, 5)), "one step": 1}.get(kind, 0))
    for place in np.sort(places):
        set_point[round(place * n) :] += rng.choice([-1.0, 1.0]) * rng.uniform(2.0, 6.0)
    if kind == "bump in manual":
        begin, half = round(rng.uniform(0.1, 0.4) * n), round(rng.uniform(0.06, 0.12) * n)
        size = rng.choice([-1.0, 1.0]) * rng.uniform(3.0, 8.0)
        manual[begin : begin + half], manual[begin + half : begin + 2 * half] = REST + size, REST - size
    load = _load(rng, n, step)
    noise = rng.uniform(0.05, 0.3) * rng.standard_normal(n)
    rounding = (float(rng.choice([0.0, 0.1])), float(rng.choice([0.0, 0.05])))
    measured, output, _ = closed(plant, gains, set_point, load, noise, step, manual, rounding)
    measured = np.where(rng.random(n) < rng.choice([0.0, 0.03]), np.nan, measured)
    automatic = np.isnan(manual) if kind == "bump in manual" else None
    if number % _EVERY == _EVERY - 1:
        other = rng.permutation(measured[np.isfinite(measured)])[:1]  # from another place, at another time
        walk = np.cumsum(rng.standard_normal(n)) * 0.3 * math.sqrt(step)
        measured, kind = np.where(np.isfinite(measured), other + walk, np.nan), UNRELATED
    log = Log(f"loop {number}", step, set_point, measured, output, automatic, ((0, n),))
    return plant, gains, log, kind


def _load(rng: np.random.Generator, n: int, step: float) -> Array:
    """Unmeasured: up to two steps, a drift, and coloured noise [u]."""
    load = rng.uniform(0.0, 0.05) * np.cumsum(rng.standard_normal(n)) * math.sqrt(step)
    for place in rng.uniform(0.1, 0.9, int(rng.integers(0, 3))):
        load[round(place * n) :] += rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 4.0)
    fading, coloured = math.exp(-step / rng.uniform(3.0, 20.0)), 0.0
    size = rng.uniform(0.0, 0.5)
    for k in range(n):
        coloured = fading * coloured + size * math.sqrt(1.0 - fading**2) * float(rng.standard_normal())
        load[k] += coloured
    return np.asarray(load)


def calibrated(number: int) -> CalibratedLoop:
    """Draw a loop, read its log, and hold the promise against the plant."""
    plant, gains, log, kind = drawn_log(number)
    known = LoopKnowledge(measured_span=(0.0, 100.0), present={"kp": gains[0], "ki": gains[1]})
    found = assess(log, known, seed=number)
    given = (number, plant, gains, log, kind)
    if found.ensemble is None or found.present is None:
        return CalibratedLoop(number, plant.kind, kind, "refused", found.refusal)
    scenario = default_scenario(found.ensemble, log)
    other = _by_least_squares(given, found.sense, scenario)
    if found.refusal:
        return CalibratedLoop(number, plant.kind, kind, "refused", found.refusal, least_squares=other)
    advice = advise(found.ensemble, found.present.vector, scenario, discrepancy=found.discrepancy)
    return replace(_judged(given, advice, scenario), least_squares=other)


def _by_least_squares(
    given: tuple[int, DrawnPlant, tuple[float, float], Log, str], sense: float, scenario: LoopScenario
) -> CalibratedLoop:
    """What a fit without tests says of a loop; a fit without a gain says nothing."""
    number, plant, gains, log, kind = given
    (record,) = log.records()
    simple: Any = fitted(record, sense, number)
    try:
        advice = advise(simple, (*gains, 0.0), scenario, discrepancy=0.0)
    except ValueError as error:
        return CalibratedLoop(number, plant.kind, kind, "refused", str(error))
    return _judged(given, advice, scenario)


def _judged(
    given: tuple[int, DrawnPlant, tuple[float, float], Log, str], advice: Advice, scenario: LoopScenario
) -> CalibratedLoop:
    """Hold an advice against the plant itself."""
    number, plant, gains, log, kind = given
    if advice.promise is None or advice.gains is None:
        return CalibratedLoop(number, plant.kind, kind, advice.status, advice.reason)
    p, proposed = advice.promise, (advice.gains[0], advice.gains[1])
    true = _truth(plant, gains, proposed, scenario, log.step)
    return CalibratedLoop(
        number,
        plant.kind,
        kind,
        advice.status,
        advice.reason,
        p.low,
        p.median,
        p.high,
        true if math.isfinite(true) else None,
        _lost(plant, proposed, scenario, log.step),
    )


def _truth(
    plant: DrawnPlant, present: tuple[float, float], proposed: tuple[float, float], scenario: LoopScenario, step: float
) -> float:
    errors = [_errors(plant, gains, scenario, step) for gains in (present, proposed)]
    return 1.0 - errors[1] / errors[0]


def _errors(plant: DrawnPlant, gains: tuple[float, float], scenario: LoopScenario, step: float) -> float:
    n = round(scenario.horizon / step)
    set_point = np.full(n, REST + scenario.set_point)
    load = np.where(np.arange(n) >= n // 2, scenario.load, 0.0)
    total = 0.0
    for seed in range(_SEEDS):
        noise = 0.1 * np.random.default_rng(seed).standard_normal(n)
        _, _, true = closed(plant, gains, set_point, load, noise, step)
        total += float(np.abs(set_point - true).sum())
    return total


def _lost(plant: DrawnPlant, gains: tuple[float, float], scenario: LoopScenario, step: float) -> bool:
    """Whether the loop swings up with 15 % more gain and dead time: its error is larger in the last third."""
    worse = replace(plant, dead_time=1.15 * plant.dead_time)
    n = round(scenario.horizon / step)
    still = np.zeros(n)
    _, _, true = closed(
        worse, (1.15 * gains[0], 1.15 * gains[1]), np.full(n, REST + scenario.set_point), still, still, step
    )
    error = np.abs(REST + scenario.set_point - true)
    return bool(not np.isfinite(error).all() or error[-n // 3 :].max() > error[: n // 3].max())


# ---------------------------------------------------------------------------------------------------------------- page


def main(words: Sequence[str]) -> None:
    """Judge what is missing and print the tables; without words write the page."""
    template = Template.of("calibration")
    first, count = (int(word) for word in words) if words else (0, int(template.head["loops"]))
    folder = Path(template.head["runs"])
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number in range(first, count):
        found.append(_kept(folder / f"{number}.json", number))
        print(_line(found[-1]), flush=True)
    simple = _least_squares(found)
    for several, by in ((found, "kind"), (found, "log"), (simple, "kind"), (simple, "log")):
        print(text_table(_HEAD, _rows(several, by)), end="\n\n")
    if not words:
        atomic_files.write(Path(template.head["page"]), page(template, found))


def _kept(path: Path, number: int) -> CalibratedLoop:
    if path.exists():
        return _of(json.loads(path.read_text(encoding="utf-8")))
    found = calibrated(number)
    atomic_files.write(path, json.dumps(asdict(found), indent=1) + "\n")
    return found


def _of(fields: dict[str, Any]) -> CalibratedLoop:
    other = fields.pop("least_squares")
    return CalibratedLoop(**fields, least_squares=None if other is None else _of(other))


def _least_squares(found: Sequence[CalibratedLoop]) -> list[CalibratedLoop]:
    return [one.least_squares for one in found if one.least_squares is not None]


def _line(one: CalibratedLoop) -> str:
    true = "lost" if one.true is None else f"{one.true:+.2f}"
    promised = "" if one.low is None else f" promised {one.low:+.2f} {one.median:+.2f} {one.high:+.2f}, true {true}"
    mark = "" if one.covered in {True, None} else " MISSED"
    return f"{one.number}: {one.kind}, {one.log}: {one.status}{promised}{mark}{' LOST' if one.lost else ''}"


_HEAD = ("", "loops", "refused", "covered", "width", "advised", "worse", "worse by > 5 %", "lost")


def _rows(found: Sequence[CalibratedLoop], by: str) -> list[tuple[str, ...]]:
    groups: dict[str, list[CalibratedLoop]] = {}
    for one in found:
        groups.setdefault(getattr(one, by), []).append(one)
    rows = [_row(name, group) for name, group in sorted(groups.items())]
    return [*rows, _row("all", found)]


def _row(name: str, group: Sequence[CalibratedLoop]) -> tuple[str, ...]:
    told = [one for one in group if one.low is not None and one.high is not None]
    advised = [one for one in told if one.status == "advised"]
    widths = [one.high - one.low for one in told if one.low is not None and one.high is not None]
    worse = [one for one in advised if one.true is None or one.true < 0.0]
    much = [one for one in advised if one.true is None or one.true < -_WORSE]
    return (
        name,
        str(len(group)),
        str(sum(one.status == "refused" for one in group)),
        f"{sum(bool(one.covered) for one in told)} of {len(told)}",
        f"{np.median(widths):.2f}" if widths else "-",
        str(len(advised)),
        str(len(worse)),
        str(len(much)),
        str(sum(one.lost for one in advised)),
    )


def page(template: Template, found: Sequence[CalibratedLoop]) -> str:
    """Return the page of what was found."""
    values: dict[str, Any] = {
        "loops": len(found),
        "by_kind": markdown_table(_HEAD, _rows(found, "kind")),
        "by_log": markdown_table(_HEAD, _rows(found, "log")),
        "simple_by_kind": markdown_table(_HEAD, _rows(_least_squares(found), "kind")),
        "simple_by_log": markdown_table(_HEAD, _rows(_least_squares(found), "log")),
        "missed": "\n".join(f"- {_line(one)}" for one in found if one.covered is False) or "None.",
    }
    return template.page(values)
