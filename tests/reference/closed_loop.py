"""Slow twin of one sampled closed loop: the Van der Pol oscillator under PID control, step by step in plain floats.

Written from the description of the loop (measure, sensor noise, output delay, reference, law with limits and
anti-windup, input bounds, input delay, plant), not from the kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from plants.core import noise


@dataclass
class Setup:
    """One situation and one controller; times in seconds."""

    reference: object
    gains: tuple
    initial: tuple
    t_end: float
    step: float
    sample: int = 1
    mu: float = 1.0
    name: str = "situation"
    seed: int = 0
    excitation: tuple = (0.0, 0.1)  # variance and hold time of white noise
    sensor: float = 0.0
    output_delay: int = 0  # samples
    input_delay: float = 0.0  # steps
    law_limits: tuple = (-20.0, 20.0)
    bounds: tuple = (-math.inf, math.inf)
    filter_time: float = 0.0
    since: float = 0.0  # s, of the last jump: errors weighted with time count from there
    difference: bool = False  # the output's rate from its samples instead of the plant's own
    trace: list = field(default_factory=list)


def stream(setup, name, count):
    return noise.samples(noise.GAUSSIAN, count, noise.stream_key(setup.name, setup.seed, name))


def simulate(setup):
    """Return the measures by name; `setup.trace` receives (t, q, v, u) of every step."""
    s, h, n = setup, setup.step, setup.sample
    n_steps = round(s.t_end / h)
    hold = round(s.excitation[1] / h)
    excitation = stream(s, "w_excitation_whitenoise0", n_steps // hold + 1) * math.sqrt(s.excitation[0])
    sensor = stream(s, "noise_position", n_steps // n + 1) * s.sensor
    q, v = s.initial
    kp, ki, kd = s.gains
    measured, commands = [], []
    integral, filtered = 0.0, [0.0, 0.0]
    before = y_before = None
    totals = dict.fromkeys(("ise", "iae", "itae", "effort", "entropy_plant", "entropy_controller",
                            "entropy_difference", "entropy_difference_abs", "total_variation", "overshoot",
                            "settling_time", "peak_command"), 0.0)  # fmt: skip
    way = s.reference(0.0) - q
    for k in range(n_steps):
        t = k * h
        if k % n == 0:
            seen = q + sensor[k // n]
            sampled_rate = 0.0 if y_before is None else (seen - y_before) / (n * h)
            measured.append((seen, sampled_rate if s.difference else v))
            y_before = seen
            y, y_rate = measured[max(len(measured) - 1 - s.output_delay, 0)]
            r = s.reference(t)
            r_rate = 0.0 if before is None else (r - before) / (n * h)
            before = r
            rates = [r_rate, y_rate]
            if s.filter_time:
                filtered = [f + n * h / s.filter_time * (x - f) for f, x in zip(filtered, rates, strict=True)]
                rates = filtered
            e = r - y
            demand = kp * e + integral + kd * (rates[0] - rates[1])
            command = min(max(demand, s.law_limits[0]), s.law_limits[1])
            if s.law_limits[0] < demand < s.law_limits[1] or demand * e < 0.0:
                integral += n * h * ki * e
            if commands:
                totals["total_variation"] += abs(command - commands[-1][0])
            commands.append((command, min(max(command, s.bounds[0]), s.bounds[1])))
        u = delivered(s, commands, k)
        w = excitation[k // hold]
        score(totals, s, t, q, v, commands[-1][0], way, r_rate)
        s.trace.append((t, q, v, u))
        q, v = rk4(q, v, u, w, s.mu, h)
    return totals


def delivered(s, commands, k):
    """The bounded command of `input_delay` steps ago, between two of them linearly; 0 before the first."""
    whole = math.floor(s.input_delay)
    near, far = (bounded(s, commands, k - whole - back) for back in (0, 1))
    return near + (s.input_delay - whole) * (far - near)


def bounded(s, commands, step):
    return commands[step // s.sample][1] if step >= 0 else 0.0


def score(totals, s, t, q, v, command, way, r_rate):
    e, h = s.reference(t) - q, s.step  # the error of now, whenever the controller last looked at the reference
    of_plant = s.mu * (q * q - 1.0) * v * v
    of_controller = s.gains[2] * (r_rate - v) ** 2
    totals["ise"] += h * e * e
    totals["iae"] += h * abs(e)
    totals["itae"] += h * max(t - s.since, 0.0) * abs(e)
    totals["effort"] += h * command**2
    totals["entropy_plant"] += h * of_plant
    totals["entropy_controller"] += h * of_controller
    totals["entropy_difference"] += h * (of_plant - of_controller)
    totals["entropy_difference_abs"] += h * abs(of_plant - of_controller)
    progress = e / way
    totals["overshoot"] = max(totals["overshoot"], -progress)
    if abs(progress) > 0.02:
        totals["settling_time"] = t + h
    totals["peak_command"] = max(totals["peak_command"], abs(command))


def rk4(q, v, u, w, mu, h):
    def f(q, v):
        return v, mu * (1.0 - q * q) * v - (1.0 + w) * q + u + w

    a = f(q, v)
    b = f(q + 0.5 * h * a[0], v + 0.5 * h * a[1])
    c = f(q + 0.5 * h * b[0], v + 0.5 * h * b[1])
    d = f(q + h * c[0], v + h * c[1])
    return tuple(x + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) for i, x in enumerate((q, v)))
