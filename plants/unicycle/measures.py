"""Quality measures of the motors: what they heat by, how much they travel, how long they are at a limit.

The built-in measures count commands, which are several for one motor where several channels steer; these count torques.
Of the pedals' motors, whose torques are equal and opposite, one counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import where
from plants.core.measures import Measure

PEDAL_MAX = 12.5
"""N m, of either pedal motor: both give the wheel about twice that, and 17 kg on rubber (friction 1) slip at 25 N m."""
TABLE_MAX = 12.0
"""N m, of the turntable's motor: twice what the nominal upset asks for."""
_AT_LIMIT = 1.0 - 1e-9
_NEVER_0 = 1e-12  # of a measure that may be a limit's unit


def _squares(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    return (m[0] + h * (u[0] * u[0] + u[2] * u[2]),)


def _relative(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, Any]:
    pedal, table = u[0] / PEDAL_MAX, u[2] / TABLE_MAX
    return m[0] + h * pedal * pedal, m[1] + h * table * table


def _travelled(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, Any, Any]:
    return m[0] + magnitude(u[0] - m[1]) + magnitude(u[2] - m[2]), u[0], u[2]


def _held_up(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any]:
    pedal = where(magnitude(u[0]) - _AT_LIMIT * PEDAL_MAX, 1.0, 0.0)
    return (m[0] + h * where(magnitude(u[2]) - _AT_LIMIT * TABLE_MAX, 1.0, pedal),)


MEASURES = (
    Measure("motor_effort", "(N m)^2 s", _squares, lambda m, _: m[0] + _NEVER_0,
            "integral of squared torques, pedal and turntable", scale=100.0),
    Measure("motor_travel", "N m", _travelled, lambda m, _: m[0] + _NEVER_0, "total variation of the torques",
            ("travel", "pedal", "table"), memory=("pedal", "table"), scale=1000.0),
    Measure("motor_limit_time", "s", _held_up, lambda m, _: m[0] + _NEVER_0, "time with a motor at its limit"),
    Measure("motor_load", "1", _relative, lambda m, time: np.sqrt(np.maximum(m[0], m[1]) / time) + _NEVER_0,
            "root mean square of the more loaded motor's torque, as a share of its largest", ("pedal", "table"),
            scale=0.3),
)  # fmt: skip
