"""Three logs of known loops, made by the exact step: what the filters and the sampler are held against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plants.identification.row import ExactStep
from plants.identification.two_lags import TWO_LAGS

ROWS, REST, INPUT = 600, 50.0, 40.0


@dataclass(frozen=True)
class KnownLoop:
    """A plant of two lags with dead time under a PI law, with steps (time, height) of set point and load."""

    slope: float
    decay: float
    lag: float
    dead_time: float
    kp: float
    ki: float
    set_point: tuple[tuple[int, float], ...]
    load: tuple[tuple[int, float], ...]
    noise: float
    seed: int
    play: float = 0.0

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return set point, measured output and output of the law [600], a row a second."""
        noise = self.noise * np.random.default_rng(self.seed).standard_normal(ROWS)
        late = int(self.dead_time)
        part = self.dead_time - late
        plant = np.array([[self.slope, self.decay, self.lag]])
        steps = [ExactStep.of(TWO_LAGS, plant, h) for h in (part, 1.0 - part)]
        r, load = REST + stairs(self.set_point), stairs(self.load)
        y, u, place = np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
        state = np.zeros(2)
        integral = position = INPUT
        for k in range(ROWS):
            y[k] = REST + state[1] + noise[k]
            error = r[k] - y[k]
            wanted = self.kp * error + integral
            u[k] = min(max(wanted, 0.0), 100.0)
            if u[k] == wanted or (wanted - u[k]) * self.ki * error < 0.0:
                integral += self.ki * error
            position = min(max(position, u[k] - 0.5 * self.play), u[k] + 0.5 * self.play)
            place[k] = position - INPUT
            for step, row in zip(steps, (k - late - 1, k - late), strict=True):
                v = (place[row] if row >= 0 else 0.0) + load[k]
                state = step.states[0] @ state + step.input[0] * v
        return r, y, u


def stairs(steps: tuple[tuple[int, float], ...]) -> np.ndarray:
    found = np.zeros(ROWS)
    for time, height in steps:
        found[time:] += height
    return found


R1 = KnownLoop(0.1, 0.05, 1e-3, 5.3, 0.4, 0.02, ((50, 5.0), (250, -3.0), (450, 2.0)), ((350, -2.0),), 0.2, 7)
R2 = KnownLoop(0.02, 0.0, 3.0, 4.0, 2.0, 0.02, ((50, 5.0), (300, -5.0)), ((200, 1.5),), 0.1, 8)
R3 = KnownLoop(0.05, 1.0 / 30.0, 8.0, 6.5, 0.8, 0.025, ((40, 4.0), (200, -6.0), (380, 5.0)), (), 0.15, 9, play=2.0)
LOOPS = {"R1": R1, "R2": R2, "R3": R3}
