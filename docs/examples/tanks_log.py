"""A log of two tanks under a PI block over three levels, for docs/guide/logs.md: tanks.csv.

    python docs/examples/tanks_log.py [FOLDER]

The tanks are those of the plant two_tanks with a worn upper hole, lime in the lower one, a worn pump and 1.2 s of dead
time, by Torricelli's law and with a step of a twentieth of a second; an inflow that nobody measures begins half way.
"""

import math
import sys
from pathlib import Path

import numpy as np

ROWS, PARTS, NOISE, DEAD = 900, 20, 5e-4, 1.2
UPPER, LOWER, PUMP, AREA, GRAVITY = 2.1e-5, 1.5e-5, 3.0e-6, 0.001552, 9.80665
BIAS, HIGHEST = 9.258, 15.0  # of the pump's voltage; the block's output counts from the bias
PRESENT = (60.0, 1.0)  # V/m, V/(m s)
LEVELS = ((0, 0.08), (150, 0.12), (420, 0.17), (700, 0.10))
INFLOW, SINCE = 1.5e-6, 560


def rates(upper, lower, voltage, inflow):
    """How fast both levels rise [m/s]."""
    between, out = (a * math.sqrt(2.0 * GRAVITY * max(h, 0.0)) for a, h in ((UPPER, upper), (LOWER, lower)))
    return (PUMP * voltage + inflow - between) / AREA, (between - out) / AREA


def logged(gains=None, seed=0):
    """Rows (time, set point, measured, output); `gains` of the level: kp and ki, which is inside the integral."""
    rng, h = np.random.default_rng(seed), 1.0 / PARTS
    lower = LEVELS[0][1]
    upper = lower * (LOWER / UPPER) ** 2
    integral = LOWER * math.sqrt(2.0 * GRAVITY * lower) / PUMP - BIAS
    rows, given = [], []
    for k in range(ROWS):
        wanted = next(level for at, level in reversed(LEVELS) if k >= at)
        measured = lower + NOISE * rng.standard_normal()
        error = wanted - measured
        kp, ki = PRESENT if gains is None else gains(measured)
        output = min(max(kp * error + integral, -BIAS), HIGHEST - BIAS)
        integral += ki * error if abs(output - kp * error - integral) < 1e-9 else 0.0
        given.append(output)
        rows.append((k, wanted, measured, output))
        for part in range(PARTS):
            acting = given[max(math.floor(k + part * h - DEAD + 1e-9), 0)]
            inflow = INFLOW if k >= SINCE else 0.0
            first, second = rates(upper, lower, BIAS + acting, inflow)
            middle = rates(upper + 0.5 * h * first, lower + 0.5 * h * second, BIAS + acting, inflow)
            upper, lower = upper + h * middle[0], lower + h * middle[1]
    return rows


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    lines = (f"{t},{r:.4f},{y:.5f},{u:.4f}" for t, r, y, u in logged())
    (folder / "tanks.csv").write_text("\n".join(["time,SP,PV,OP", *lines]) + "\n", encoding="utf-8")
