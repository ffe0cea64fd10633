"""How the structure of the refined knowledge base was found, for the page and as a line of text."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report import InputRow, StructureView, TradeOffView
from experiments.reporting.rules import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from experiments.knowledge import Refined
    from experiments.reporting.case import Case
    from flcs.trade_off import TradeOff

_KIND = "equal"  # the knowledge base that the page shows


def structure(case: Case) -> StructureView:
    """Return what the run searched of the structure."""
    if KEY not in case.contenders or _KIND not in case.refined:
        return StructureView()
    refined = case.refined[_KIND]
    curve = None if refined.curve is None else _trade_off(refined.curve)
    return replace(structure_of(refined.kb.training), trade_off=curve)


def structure_of(training: Mapping[str, Any]) -> StructureView:
    """Return what the searches over inputs and terms left in a knowledge base's record of its training."""
    found = training.get("structure", {})
    return StructureView(None, tuple(_inputs(found)), _terms(found))


def _inputs(found: Mapping[str, Any]) -> Iterator[InputRow]:
    """One row for every input that was a candidate, channel after channel."""
    for channel, record in found.items():
        told, valued = record.get("information", {}), record.get("inputs", {})
        for name in dict.fromkeys([*told, *valued]):
            one, value = told.get(name, {}), valued.get(name)
            yield InputRow(
                name=name if len(found) == 1 else f"{name} of {channel}",
                kept=one.get("kept", True) if value is None else value["kept"],
                information=_number(one.get("information")),
                threshold=_number(one.get("threshold")),
                taught=_number(value and value["taught"]),
                validation=_number(value and value["validation"]),
                text=_choice(one, value),
            )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _choice(told: Mapping[str, Any], value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "kept" if told["kept"] else "left out: it tells no more about the gains than chance"
    return ": ".join(filter(None, ("kept" if value["kept"] else "left out", value["text"])))


def _terms(found: Mapping[str, Any]) -> str:
    """What the search over linguistic terms found, in a sentence for every channel."""
    parts = []
    for channel, record in found.items():
        if "terms" in record:
            terms = record["terms"]
            counts = ", ".join(f"{name} {one['terms']}" for name, one in terms["inputs"].items())
            where = "" if len(found) == 1 else f" of {channel}"
            parts.append(
                f"Terms{where} by genetic search: {counts}; {terms['shape']}; the rules tell "
                f"{terms['information']:.3g} nat about the gains, less what as many would tell by chance."
            )
    return " ".join(parts)


def _trade_off(curve: TradeOff) -> TradeOffView:
    validation = [p.validation for p in curve.points if p.validation is not None]
    return TradeOffView(
        rules=np.array([p.rules for p in curve.points]),
        taught=np.array([p.taught for p in curve.points]),
        chosen=curve.chosen,
        loss=curve.loss,
        text=f"{curve.sentence()}; allowed {100.0 * curve.loss:g} %",
        validation=np.array(validation) if len(validation) == len(curve.points) else None,
    )


def sentences(refined: dict[str, Refined]) -> list[str]:
    """Return one line for every refined knowledge base."""
    titles = {"equal": "knowledge base", "free": "knowledge base, free actuator travel"}
    found: Mapping[str, Any] = next((one.kb.training.get("structure", {}) for one in refined.values()), {})
    lines = [line for line in (_terms(found), *map(_line, _inputs(found))) if line]
    return lines + [f"{titles[kind]}: {one.curve.sentence()}" for kind, one in refined.items() if one.curve is not None]


def _line(row: InputRow) -> str:
    """One input as text: what it tells, what the loop loses without it, and the choice."""
    told = "" if math.isnan(row.information) else f" tells {row.information:.3g} nat (by chance {row.threshold:.3g});"
    lost = (
        ""
        if math.isnan(row.taught)
        else f" without it {100.0 * row.taught:+.1f} % (validation {100.0 * row.validation:+.1f} %);"
    )
    return f"input {row.name}:{told}{lost} {row.text}"
