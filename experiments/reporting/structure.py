"""How the structure of the refined knowledge base was found, for the page and as a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report import StructureView, TradeOffView
from experiments.reporting.rules import KEY

if TYPE_CHECKING:
    from experiments.knowledge import Refined
    from experiments.reporting.case import Case
    from flcs.trade_off import TradeOff

_KIND = "equal"  # the knowledge base that the page shows


def structure(case: Case) -> StructureView:
    """Return what the run searched of the structure."""
    if KEY not in case.contenders or _KIND not in case.refined:
        return StructureView()
    refined = case.refined[_KIND]
    return StructureView(None if refined.curve is None else _trade_off(refined.curve))


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
    return [f"{titles[kind]}: {one.curve.sentence()}" for kind, one in refined.items() if one.curve is not None]
