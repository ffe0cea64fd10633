"""The run report: one self-contained page, `report.html`, from plain data.

Fill a `ReportData` and call `write_report(data, path)`. The package knows no simulation and no learning: strings,
floats and NumPy arrays come in, one file goes out.
"""

from experiments.report.data import Provenance, ReportData, ReportWarning, SearchHistory
from experiments.report.front_view import FrontSeries, FrontView
from experiments.report.page import render, write_report
from experiments.report.results import ChannelGains, ControllerResult, MarginPoint, Margins
from experiments.report.rule_base import GainLine, GainSurface, LinguisticVariable, Rule, RuleBaseView, Term
from experiments.report.situations import (
    GROUPS,
    ActuatorUse,
    ChannelView,
    Estimate,
    NotAvailable,
    OwnMeasure,
    Quality,
    Response,
    SituationInfo,
    SituationResult,
)
from experiments.report.structure_data import InputRow, StructureView, TradeOffView
from experiments.report.teaching import TaughtTrack, TeachingView
from experiments.report.verdict import Comparison, Criterion, Judged, Verdict

__all__ = [
    "GROUPS",
    "ActuatorUse",
    "ChannelGains",
    "ChannelView",
    "Comparison",
    "ControllerResult",
    "Criterion",
    "Estimate",
    "FrontSeries",
    "FrontView",
    "GainLine",
    "GainSurface",
    "InputRow",
    "Judged",
    "LinguisticVariable",
    "MarginPoint",
    "Margins",
    "NotAvailable",
    "OwnMeasure",
    "Provenance",
    "Quality",
    "ReportData",
    "ReportWarning",
    "Response",
    "Rule",
    "RuleBaseView",
    "SearchHistory",
    "SituationInfo",
    "SituationResult",
    "StructureView",
    "TaughtTrack",
    "TeachingView",
    "Term",
    "TradeOffView",
    "Verdict",
    "render",
    "write_report",
]
