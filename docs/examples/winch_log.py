"""A log of a winch that MuJoCo simulates, its speed under a PI block: winch.csv, for docs/guide/logs.md.

    python docs/examples/winch_log.py [FILE] [KP KI]

The drum turns behind an elastic shaft; a fan on it brakes with the square of its speed, the rope's pull wanders, the
drive's command is a second late. Nothing of this is known to who reads the log. With other gains the same loop is run
again, with the same pull: so a promise can be held against what came of it.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np

ROWS, PARTS, LATE = 900, 100, 1  # rows of a second, steps in a row, rows of dead time
NOISE, FAN, PULL = 0.03, 0.012, 0.004  # rad/s, N m s^2, N m a root of a second
SPEEDS = ((0, 8.0), (60, 9.0), (330, 7.5), (620, 8.5))
PRESENT = (4.0, 0.1)  # %/(rad/s), %/rad


def logged(kp, ki, speeds=SPEEDS, pull=None, seed=0):
    """Rows (time, set point, measured, output): rad/s and per cent of the drive's torque; `pull` of the rope [N m]."""
    rng = np.random.default_rng(seed)
    noise, wandering = NOISE * rng.standard_normal(ROWS), np.cumsum(PULL * rng.standard_normal(ROWS))
    pull = wandering if pull is None else pull
    model = mujoco.MjModel.from_xml_path(str(Path(__file__).with_name("winch.xml")))
    data, drum = mujoco.MjData(model), model.body("drum").id
    wanted = speeds[0][1]
    data.qvel[0], integral = wanted, (0.01 * wanted + FAN * wanted**2) / 0.02
    data.qpos[1], data.act[0] = -FAN * wanted**2 / 4.0, integral
    given, rows = [integral] * (LATE + 1), []
    for k in range(ROWS):
        wanted = next(speed for at, speed in reversed(speeds) if k >= at)
        measured = data.qvel[0] + data.qvel[1] + noise[k]
        output = min(max(kp * (wanted - measured) + integral, 0.0), 100.0)
        integral += ki * (wanted - measured)
        given.append(output)
        rows.append((k, wanted, measured, output))
        data.ctrl[0] = given[-1 - LATE]
        for _ in range(PARTS):
            speed = data.qvel[0] + data.qvel[1]
            data.xfrc_applied[drum, 5] = -FAN * speed * abs(speed) + pull[k]  # about z
            mujoco.mj_step(model, data)
    return rows


def write(path, rows):
    """Write a log as control systems export them."""
    lines = (f"{t},{r:g},{y:.4f},{u:.4f}" for t, r, y, u in rows)
    Path(path).write_text("\n".join(["time,SP,PV,OP", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    gains = tuple(map(float, sys.argv[2:4])) if len(sys.argv) > 3 else PRESENT
    write(sys.argv[1] if len(sys.argv) > 1 else "winch.csv", logged(*gains))
