"""Control laws as blocks, gain schedules, and the classical tuning rules.

A controller is one law per channel and a schedule that gives their gains. Laws and schedules are frozen dataclasses
of settings; `protocols` says what members they need.
"""

from controllers import forms, tuning
from controllers.controller import Controller, as_controller
from controllers.forms import Gains, SeriesForm, StandardForm
from controllers.pid import PID, ErrorIntegralPID, TwoDegreePID
from controllers.protocols import Law, Schedule
from controllers.schedule import ConstantGains, GainTable, TimeGains, gain_names
from controllers.station import ManualStation

__all__ = [
    "PID",
    "ConstantGains",
    "Controller",
    "ErrorIntegralPID",
    "GainTable",
    "Gains",
    "Law",
    "ManualStation",
    "Schedule",
    "SeriesForm",
    "StandardForm",
    "TimeGains",
    "TwoDegreePID",
    "as_controller",
    "forms",
    "gain_names",
    "tuning",
]
