"""The run report: one self-contained page, `report.html`, from plain data.

Fill a `ReportData` and call `write_report(data, path)`. Records, drawing, sections and the page know no simulation and
no learning: strings, floats and NumPy arrays come in, one file goes out. Builders fill the records from a finished run.
"""

from experiments.report.page import render, write_report
from experiments.report.records.front import FrontSeries, FrontView
from experiments.report.records.learning import InputRow, StructureView, TaughtTrack, TeachingView, TradeOffView
from experiments.report.records.report_data import Provenance, ReportData, ReportWarning, SearchHistory
from experiments.report.records.results import ChannelGains, ControllerResult, MarginPoint, Margins
from experiments.report.records.rule_base import GainLine, GainSurface, LinguisticVariable, Rule, RuleBaseView, Term
from experiments.report.records.situations import (
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
from experiments.report.records.verdict import Comparison, Criterion, Judged, Verdict

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
