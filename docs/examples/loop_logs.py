"""Three logs of a heated tank under a PI block, for docs/guide/logs.md: sluggish.csv, tuned.csv, quiet.csv.

    python docs/examples/loop_logs.py [FOLDER]

The tank is a lag of 40 s behind one of 6 s with 9 s of dead time, gain 1.4 K/%; a load drifts, the sensor is noisy. In
a log of your own nothing of this is known.
"""

import sys
from pathlib import Path

import numpy as np

STEP, ROWS, REST, OUTPUT = 1.0, 900, 60.0, 45.0
GAIN, SLOW, FAST, DEAD = 1.4, 40.0, 6.0, 9
STEPS = ((60, 4.0), (330, -3.0), (620, 2.0))


def logged(kp, ki, steps=STEPS, seed=0):
    """Rows (time, set point, measured, output) of the loop with these gains [%/K], [%/(K s)]."""
    rng = np.random.default_rng(seed)
    set_point = REST + sum((height * (np.arange(ROWS) >= at) for at, height in steps), np.zeros(ROWS))
    load = np.cumsum(0.05 * rng.standard_normal(ROWS))
    first = second = 0.0
    integral, given, rows = OUTPUT, np.full(ROWS + DEAD, OUTPUT), []
    for k in range(ROWS):
        measured = REST + second + 0.1 * rng.standard_normal()
        error = set_point[k] - measured
        output = min(max(kp * error + integral, 0.0), 100.0)
        integral += ki * error * STEP
        given[k + DEAD] = output
        rows.append((k * STEP, set_point[k], measured, output))
        first += (STEP / FAST) * (given[k] - OUTPUT + load[k] - first)
        second += (STEP / SLOW) * (GAIN * first - second)
    return rows


def write(path, rows):
    """Write a log as control systems export them."""
    lines = (f"{t:g},{r:g},{y:.3f},{u:.4f}" for t, r, y, u in rows)
    path.write_text("\n".join(["time,SP,PV,OP", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    write(folder / "sluggish.csv", logged(0.5, 0.008))
    write(folder / "tuned.csv", logged(1.25, 0.027, seed=1))
    write(folder / "quiet.csv", logged(0.5, 0.008, steps=(), seed=2))
