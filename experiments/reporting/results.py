"""Contenders as the page's controllers: cost, measures and responses in every declared situation."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from experiments.report import (
    ActuatorUse,
    ControllerResult,
    Estimate,
    NotAvailable,
    OwnMeasure,
    Quality,
    Response,
    SituationInfo,
    SituationResult,
)
from experiments.reporting import estimates, gains, robustness, words
from experiments.reporting.case import BASELINE
from experiments.reporting.recording import MOST
from experiments.reporting.scenes import shown_contenders
from experiments.text_table import in_words
from sscq.situation_sets import KINDS

if TYPE_CHECKING:
    from experiments.judging import Contender
    from experiments.report.situations import Group
    from experiments.reporting.case import Array, Case, Place
    from experiments.reporting.recording import Recordings

_ALWAYS_DRAWN = ("own",)  # beside those that are also seen moving: eight curves are a thicket
_NOT_KEPT = NotAvailable(f"of more than {MOST} situations of a kind, only the first and the costliest are recorded")


def situations(case: Case) -> tuple[SituationInfo, ...]:
    """Return all declared situations."""
    spread = case.setup.spread
    other = f"; every seed with another plant, parameters spread by ±{100.0 * spread:g} %" if spread else ""
    return tuple(
        SituationInfo(
            p.label, p.kind, words.situation(case.plant, p.situation) + (other if p.kind != "taught" else ""),
            case.seeds(p.kind), f"seed {p.situation.seed}",
        )
        for p in case.places
    )  # fmt: skip


def controllers(case: Case, recorded: Recordings) -> tuple[ControllerResult, ...]:
    """Return all contenders, simplest first."""
    return tuple(_controller(case, contender, recorded) for contender in case.group)


def _controller(case: Case, contender: Contender, recorded: Recordings) -> ControllerResult:
    name = contender.name
    return ControllerResult(
        key=name,
        label=contender.title,
        text=contender.text,
        gains=gains.of(case, contender),
        cost={_group(kind): _cost(case, name, kind) for kind in KINDS},
        margins=robustness.of(case, contender),
        results=tuple(_result(case, contender, place, recorded) for place in case.places),
        evaluations=contender.evaluations,
        parameters=contender.parameters,
        short=case.name(name),
        drawn=name in {*_ALWAYS_DRAWN, *shown_contenders(case)},
    )


def _group(kind: str) -> Group:
    return kind  # type: ignore[return-value]  # KINDS are the page's groups


def _cost(case: Case, name: str, kind: str) -> Estimate:
    values = case.judgement.fitness[name, kind]
    return estimates.mean(values, estimates.draws(len(values), case.setup.seed))


def _result(case: Case, contender: Contender, place: Place, recorded: Recordings) -> SituationResult:
    name, kind, k = contender.name, place.kind, place.number
    values, base = (case.judgement.fitness[key, kind][:, k] for key in (name, BASELINE))
    rows = estimates.draws(len(values), case.setup.seed)
    ends = case.measure(name, kind, "diverged_at")[:, k]
    key = f"{name}.{place.overall}"
    return SituationResult(
        situation=place.label,
        cost=estimates.mean(values, rows),
        change=None if name == BASELINE else estimates.change(values, base, rows),
        quality=_quality(case, name, place),
        own=_own(case, name, place),
        actuator=_use(case, name, place, recorded[f"{key}.use"]) if f"{key}.use" in recorded else (),
        response=_response(contender, key, recorded) if f"{key}.time" in recorded else _NOT_KEPT,
        diverged_at=float(np.nanmin(ends)) if np.isfinite(ends).any() else float("nan"),
        failures=int(np.isfinite(ends).sum()),
    )


def _quality(case: Case, name: str, place: Place) -> Quality:
    """Means over the seeds that survive: a rollout cut short by its divergence has small integrals."""
    alive = ~case.failed(name, place.kind)[:, place.number]
    values = {f.name: case.measure(name, place.kind, f.name)[alive, place.number] for f in fields(Quality)}
    with warnings.catch_warnings(action="ignore"):  # the mean of no survivor is NaN: not available
        return Quality(**{measure: float(each.mean()) for measure, each in values.items()})


def own_measures(case: Case) -> tuple[OwnMeasure, ...]:
    """Return what the plant's own measures are."""
    return tuple(
        OwnMeasure(one.name, in_words(one.name), one.unit, one.text, one.less_is_better) for one in case.plant.measures
    )


def _own(case: Case, name: str, place: Place) -> tuple[float, ...]:
    """Means of the plant's own measures over the seeds that survive."""
    alive = ~case.failed(name, place.kind)[:, place.number]
    if not alive.any():
        return (float("nan"),) * len(case.plant.measures)
    tables = [case.measure(name, place.kind, one.name) for one in case.plant.measures]
    return tuple(float(table[alive, place.number].mean()) for table in tables)


def _use(case: Case, name: str, place: Place, use: Array) -> tuple[ActuatorUse, ...]:
    """Of the drawn seed; with one channel also the largest command of all seeds."""
    peak = float("nan")
    if len(use) == 1:
        peak = float(case.measure(name, place.kind, "peak_command")[:, place.number].max())
    return tuple(ActuatorUse(float(low), float(high), float(share), peak) for low, high, share in use)


def _response(contender: Contender, key: str, recorded: Recordings) -> Response:
    def part(what: str) -> Array:
        return np.asarray(recorded[f"{key}.{what}"], dtype=float)

    n_c = part("output").shape[1]
    rates, integrals, seen = part("entropy_rates"), part("entropies"), part("seen")
    return Response(
        time=part("time"),
        reference=part("reference"),
        output=part("output"),
        command=part("command"),
        gains=part("gains"),
        gain_names=tuple(contender.controller.schedule.gain_names),
        entropy_rate_plant=rates[:, 0],
        entropy_rate_controller=rates[:, 1],
        entropy_plant=integrals[:, 0],
        entropy_controller=integrals[:, 1],
        error=seen[:, 0 : 2 * n_c : 2],
        error_rate=seen[:, 1 : 2 * n_c : 2],
    )
