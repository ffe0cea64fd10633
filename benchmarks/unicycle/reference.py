"""Nominal and unequal parameters, gains and reference cases of the unicycle's specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.unicycle.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Iterable


def by_name(values: Iterable[float]) -> dict[str, float]:
    """Parameters of the plant by the names of the printed formulas, in which the turntable is Tt."""
    found = {
        f"ITt{q.name[2:]}" if q.name.startswith("IT") else q.name: v for q, v in zip(PARAMETERS, values, strict=True)
    }
    return {name: value for name, value in found.items() if name != "nh"}


NOMINAL = by_name(q.nominal for q in PARAMETERS)
FRICTIONS = ("Dcor", "Dg", "D1", "D2", "D3", "D4", "DTt", "Droll")
UNEQUAL = NOMINAL | {
    "IWx": 0.021,
    "IWz": 0.024,
    "IBx": 0.31,
    "IBz": 0.07,
    "ITtx": 0.06,
    "ITty": 0.11,
    "ML2": 0.35,
    "ML4": 0.20,
    "IL2x": 0.0003,
    "IL2y": 0.0018,
    "IL2z": 0.0016,
    "psi0": 0.3,
}
TRIM, SPEED = -0.0171163319, 1.5  # rad, m/s

# Case A3 and, without the nonholonomic term, A4: state, inputs, accelerations (alpha, gamma, beta, theta_w, theta1 to
# theta4, eta).
A3_STATE = (-0.4, -0.12, 0.15, 2.1, -1.0, 0.8, -0.6, 0.9, -5.0, 2.0)
A3_TORQUES, A3_PUSH, A3_HEIGHT = (1.5, -0.5, 0.8), (6.0, -4.0, 2.0), 0.5
A3 = (-14.742446944, -3.170953324, 9.4516458395, -27.628074547, -7.0476624842, 9.5399636925, 31.035517855,
      46.047414675, 20.86529144)  # fmt: skip
A4 = (-57.683149617, -8.4709257617, 5.4218119122, -37.406877438, -7.0044554447, 9.3448834549, 35.8773226,
      52.64600301, 63.810499579)  # fmt: skip

# Trajectory T1 after 2 s (alpha, gamma, beta, theta_w, eta and rates, x_P, y_P), from T1_START.
T1_START = (0.0, 0.05, TRIM + 0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0)
T1_END = (-0.197089809, 0.00243041821, -0.0174715176, 20.9651553, 2.46262135, -0.0449434435, -0.00585102243,
          -0.00118876811, 10.4043469, 1.54109929, 3.10561128, -0.47469937)  # fmt: skip
# Free fall T2, from rest of nothing: its start, without friction and control.
T2_START = (0.0, 0.05, 0.03, 0.4, 0.2, 0.3, 0.1, 0.2, 4.0, 1.0, 0.0, 0.0)
