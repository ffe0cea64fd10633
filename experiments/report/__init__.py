"""The run report: one self-contained page, `report.html`, from plain data.

Fill a `ReportData` and call `write_report(data, path)`. The package knows no simulation and no learning: strings,
floats and NumPy arrays come in, one file goes out.
"""

from experiments.report.data import (
    Comparison,
    Criterion,
    Provenance,
    ReportData,
    ReportWarning,
    SearchHistory,
    Verdict,
)
from experiments.report.page import render, write_report
from experiments.report.results import (
    GROUPS,
    ActuatorUse,
    ChannelGains,
    ChannelView,
    ControllerResult,
    Estimate,
    MarginPoint,
    Margins,
    NotAvailable,
    Quality,
    Response,
    SituationInfo,
    SituationResult,
)
from experiments.report.rule_base import GainSurface, LinguisticVariable, Rule, RuleBaseView, Term

__all__ = [
    "GROUPS",
    "ActuatorUse",
    "ChannelGains",
    "ChannelView",
    "Comparison",
    "ControllerResult",
    "Criterion",
    "Estimate",
    "GainSurface",
    "LinguisticVariable",
    "MarginPoint",
    "Margins",
    "NotAvailable",
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
    "Term",
    "Verdict",
    "render",
    "write_report",
]
