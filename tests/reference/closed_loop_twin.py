"""Slow twin of a sampled closed loop: any plant, any PID settings, any situation, step by step in plain floats.

Written from the description of one sample, not from the kernel: measure (with jitter), sensor noise, output delay,
quantise, lost packets, reference, schedule at its tick, law with limits, rate limit and anti-windup, allocate, input
bounds, lost packets, then in every step input delay, actuator (rate limit, dead zone, backlash) and plant. The plant's
blocks are called as they stand; unit noise comes from its reference implementation. Settings of laws and situations are
read as data.
"""

import math
from collections import defaultdict
from contextlib import contextmanager

import numpy as np

from plants.core.kernel import cache
from plants.core.signals import noise
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.record import Recorder

SETTLED, SHORT_WAY = 0.02, 1e-3


_plain = {}


def _load_plain(text):
    """Module of a generated source as plain Python."""
    if text not in _plain:
        _plain[text] = cache._module("plain", text)
    return _plain[text]


@contextmanager
def uncompiled():
    """Generated kernels run as the plain Python that they are: many settings without compiling any (use lanes=1)."""
    original, cache.function = cache.function, lambda text, _: _load_plain(text).rollout
    try:
        with np.errstate(over="ignore"):  # the noise's integer products wrap, as they do when compiled
            yield
    finally:
        cache.function = original


def recorder_of(loop):
    """A recorder with its loop given: another kernel than the one that it would make."""
    recorder = object.__new__(Recorder)
    recorder.controller, recorder.loop = loop.spec.controller, loop
    return recorder


def plain_record(plant, controller, situation, gains, step):
    """Record of a closed loop that runs as plain Python."""
    loop = ClosedLoop(plant, controller, (situation,), step, observe=True, lanes=1)
    with uncompiled():
        return recorder_of(loop)(gains)


class Source:
    """One signal: smooth parts at the stage's time, jumps and noise held from the step's start."""

    def __init__(self, name, signal, situation, step, n_steps):
        self.step, self.parts, counts = step, [], defaultdict(int)
        for part in signal.parts:
            kind = type(part).__name__
            unit = None
            if kind == "WhiteNoise":
                every = round(part.hold / step)
                code = noise.GAUSSIAN if part.density == "gaussian" else noise.UNIFORM
                key = noise.stream_key(situation.name, situation.seed, f"{name}_whitenoise{counts[kind]}")
                unit = (every, noise.samples(code, n_steps // every + 1, key))
            counts[kind] += 1
            self.parts.append((kind, part, unit))

    def __call__(self, k, part_of_step=0.0):
        start, t = k * self.step, (k + part_of_step) * self.step
        return sum(self._value(kind, part, unit, k, start, t) for kind, part, unit in self.parts)

    @staticmethod
    def _value(kind, part, unit, k, start, t):
        if kind == "Constant":
            return part.level
        if kind == "Step":
            return part.height if start > part.at - 1e-9 else 0.0
        if kind == "Sine":
            return part.amplitude * math.sin(2.0 * math.pi * part.frequency * t + part.phase)
        every, numbers = unit
        return math.sqrt(part.variance) * numbers[k // every]


class Pid:
    """One channel's PID law with its memory, from the formulas of its documentation."""

    def __init__(self, settings, h):
        self.s, self.h = settings, h
        self.integral = self.command = settings.initial_command
        self.r_rate = self.y_rate = 0.0

    def rates(self, r_rate, y_rate):
        tau = self.s.derivative_filter_time
        if tau == 0.0:
            return r_rate, y_rate
        share = self.h / tau
        return self.r_rate + share * (r_rate - self.r_rate), self.y_rate + share * (y_rate - self.y_rate)

    def sample(self, r, y, r_rate, y_rate, gains):
        s, h, (kp, ki, kd) = self.s, self.h, gains
        sense = 1.0 if s.action == "direct" else -1.0
        self.r_rate, self.y_rate = self.rates(r_rate, y_rate)
        rate = (self.r_rate if s.derivative_on == "error" else 0.0) - self.y_rate
        v = kp * sense * (s.set_point_weight * r - y) + self.integral + kd * sense * rate
        low, high = s.limits or (-math.inf, math.inf)
        if s.rate_limit is not None:
            low, high = max(low, self.command - s.rate_limit * h), min(high, self.command + s.rate_limit * h)
        u = min(max(v, low), high)
        growth = h * ki * sense * (r - y)
        if s.anti_windup == "back_calculation":
            growth += h / s.tracking_time * (u - v)
        elif s.anti_windup == "conditional" and ((v >= high and growth > 0.0) or (v <= low and growth < 0.0)):
            growth = 0.0
        self.integral += growth
        self.command = u
        return u


class Drive:
    """One actuator, case by case: what it stands at, and where the plant's input stands behind its play."""

    def __init__(self, rest, speed, zone, width):
        self.place = self.input = rest
        self.speed, self.zone, self.width = speed, zone, width

    def move(self, wanted, h):
        way = wanted - self.place
        limited = self.speed > 0.0 and abs(way) > self.speed * h
        self.place = self.place + math.copysign(self.speed * h, way) if limited else wanted
        push = math.copysign(max(abs(self.place) - self.zone, 0.0), self.place)
        if push - self.input > self.width / 2:  # the play is used up on this side
            self.input = push - self.width / 2
        elif self.input - push > self.width / 2:
            self.input = push + self.width / 2
        return self.input


class Twin:
    """One closed loop.

    Parameters
    ----------
    plant, laws, situation
        Laws: one PID per channel, all settings resolved (limits included).
    gains : callable
        (t, e_1, e_1', e_2, e_2', ..., extra outputs) to the gains of all channels.
    extra : outputs that the schedule reads besides.
    at_rest : callable, optional
        (references, time) to the plant's loss at rest, for plants that declare one.
    sample, tick : steps per controller sample, samples per schedule tick.
    """

    def __init__(self, plant, laws, gains, situation, step, sample=1, tick=1, extra=(), at_rest=None):
        self.plant, self.situation, self.step, self.sample, self.tick = plant, situation, step, sample, tick
        self.at_rest = at_rest
        self.gains, self.extra = gains, [plant.index("measurements", name) for name in extra]
        self.laws = [Pid(law, sample * step) for law in laws]
        self.n_steps = round(situation.t_end / step)
        self.p = plant.values("parameters", situation.parameters)
        self.x = plant.values("states", situation.initial)
        names = [c.output for c in plant.channels]
        r, w = situation.references(plant), situation.excitations(plant)
        self.r = [Source(f"r_{n}", s, situation, step, self.n_steps) for n, s in zip(names, r, strict=True)]
        names = [q.name for q in plant.disturbances]
        self.w = [Source(f"w_{n}", s, situation, step, self.n_steps) for n, s in zip(names, w, strict=True)]
        self.places = [(plant.index("measurements", c.output), c.rate) for c in plant.channels]
        self.sensor = self._sensor_noise()
        chances = [self._draws(kind) for kind in ("jitter", "dropout", "command_dropout")]
        self.ages, self.lost = situation.jitter * chances[0], chances[1] < situation.dropout
        self.lost_commands = chances[2] < situation.command_dropout
        self.rest = [q.nominal for q in plant.inputs]
        settings = [situation.of_inputs(kind, plant) for kind in ("rate_limit", "dead_zone", "backlash")]
        self.drives = [Drive(*numbers) for numbers in zip(self.rest, *settings, strict=True)]
        self.history, self.inputs = [], []
        self.r_before = self.y_before = self.commands = self.outputs_before = self.packet = None
        self.totals, self.trace = defaultdict(float), []
        self.own = {one.name: one.initial for one in plant.measures}
        self.jumps = self._jumps(r, w)

    def _sensor_noise(self):
        """Noise of every measurement in every sample."""
        s, found = self.situation, []
        for q, level in zip(self.plant.measurements, s.noise_levels(self.plant), strict=True):
            key = noise.stream_key(s.name, s.seed, f"noise_{q.name}")
            found.append(level * noise.samples(noise.GAUSSIAN, self.n_steps // self.sample + 2, key))
        return np.array(found)

    def _draws(self, kind):
        """A number between 0 and 1 for every sample."""
        key = noise.stream_key(self.situation.name, self.situation.seed, kind)
        return 0.5 + noise.samples(noise.UNIFORM, self.n_steps // self.sample + 2, key) / math.sqrt(12.0)

    def _jumps(self, references, disturbances):
        jumps = [p.at for s in (*references, *disturbances) for p in s.parts if type(p).__name__ == "Step"]
        return [0.0, *(at for at in jumps if 0.0 < at < self.situation.t_end)]

    def run(self):
        """Return the measures by name and the trace [step][name]."""
        self.origin = [self._outputs(0)[place] for place, _ in self.places]
        for k in range(self.n_steps):
            if k % self.sample == 0:
                self._sample(k)
            u = self._delivered(k)
            self._score(k, u)
            self._measure(k, u)
            self.x = self._advance(k, u)
        return dict(self.totals), self.trace

    # -------------------------------------------------------------------------------------------------- the sample

    def _outputs(self, k):
        rest = tuple(q.nominal for q in self.plant.inputs)
        w = tuple(source(k) for source in self.w)
        return self.plant.outputs(k * self.step, self.x, rest, w, self.p)

    def _sample(self, k):
        number, period = k // self.sample, self.sample * self.step
        now = np.array(self._outputs(k))
        before = now if self.outputs_before is None else self.outputs_before
        self.outputs_before = now
        self.history.append((1.0 - self.ages[number]) * now + self.ages[number] * before + self.sensor[:, number])
        if self.packet is None or not self.lost[number]:
            self.packet = self._rounded(self._received())
        before, self.y = self.y_before, [self.packet[place] for place, _ in self.places]
        self.y_before, self.y_rate = self.y, []
        for i, (_, rate) in enumerate(self.places):
            if rate is not None and self.laws[i].s.rate_source == "output":
                self.y_rate.append(self.packet[self.plant.index("measurements", rate)])
            else:
                self.y_rate.append(0.0 if before is None else (self.y[i] - before[i]) / period)
        r = [source(k) for source in self.r]
        before = r if self.r_before is None else self.r_before
        self.r_rate = [(a - b) / period for a, b in zip(r, before, strict=True)]
        self.r_now = self.r_before = r
        if number % self.tick == 0:
            self._schedule(k, self.packet[self.extra])
        self._control(k)

    def _received(self):
        """Measurements of the output delay ago, between two samples linearly; the first one before there was any."""
        late = self.situation.output_delay / (self.sample * self.step)
        whole = math.floor(late + 1e-6)
        part = max(late - whole, 0.0)
        last = len(self.history) - 1
        near, far = (self.history[max(last - whole - back, 0)] for back in (0, 1))
        return near + part * (far - near)

    def _rounded(self, values):
        """The nearest multiples of the converters' steps."""
        steps = self.situation.quanta(self.plant)
        return np.array([v if q == 0.0 else q * math.floor(v / q + 0.5) for v, q in zip(values, steps, strict=True)])

    def _schedule(self, k, others):
        signals = []
        for i, law in enumerate(self.laws):
            of_reference, of_output = law.rates(self.r_rate[i], self.y_rate[i])
            signals += [self.r_now[i] - self.y[i], of_reference - of_output]
        self.seen = [*signals, *others]
        self.g = np.array(self.gains(k * self.step, *self.seen), float).reshape(len(self.laws), 3)

    def _control(self, k):
        pairs = zip(self.laws, self.r_now, self.y, self.r_rate, self.y_rate, self.g, strict=True)
        commands = [law.sample(*rest) for law, *rest in pairs]
        if self.commands is not None:
            self.totals["total_variation"] += sum(abs(a - b) for a, b in zip(commands, self.commands, strict=True))
        self.commands = commands
        allocate = self.plant.allocate
        u = commands if allocate is None else allocate(k * self.step, self.x, tuple(commands), self.p)
        low, high = self.situation.limits or (-math.inf, math.inf)
        asked = [min(max(value, low), high) for value in u]
        if self.lost_commands[k // self.sample]:
            asked = self.inputs[-1] if self.inputs else self.rest
        self.inputs.append(asked)

    def _delivered(self, k):
        """Inputs of the input delay ago, between two steps linearly, behind the actuators; before any those at rest."""
        dead = self.situation.delay
        if self.plant.input_delay is not None:
            dead += self.p[self.plant.index("parameters", self.plant.input_delay)]
        whole = math.floor(dead / self.step + 1e-6)
        part = max(dead / self.step - whole, 0.0)
        near, far = (
            np.array(self.inputs[past // self.sample] if (past := k - whole - back) >= 0 else self.rest)
            for back in (0, 1)
        )
        wanted = (near + part * (far - near)).tolist()
        return tuple(drive.move(value, self.step) for drive, value in zip(self.drives, wanted, strict=True))

    # ------------------------------------------------------------------------------------------ the plant, the score

    def _advance(self, k, u):
        h, t = self.step, k * self.step

        def rates(part, x):
            w = tuple(source(k, part) for source in self.w)
            return np.array(self.plant.derivative(t + part * h, tuple(x), u, w, self.p), float)

        x = np.array(self.x)
        a = rates(0.0, x)
        b = rates(0.5, x + 0.5 * h * a)
        c = rates(0.5, x + 0.5 * h * b)
        d = rates(1.0, x + h * c)
        return tuple((x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)).tolist())

    def _score(self, k, u):
        plant, h, t, total = self.plant, self.step, k * self.step, self.totals
        y, w = self._outputs(k), tuple(source(k) for source in self.w)
        pairs = list(zip(plant.channels, self.places, strict=True))
        wanted = [source(k) for source in self.r]
        errors = [(r - y[place]) / c.scale for r, (c, (place, _)) in zip(wanted, pairs, strict=True)]
        of_plant = plant.entropy_rate(t, self.x, u, w, self.p)
        of_controller = 0.0
        for i, (c, (_, rate)) in enumerate(pairs):
            true = self.y_rate[i] if rate is None else y[plant.index("measurements", rate)]
            kd = -self.g[i, 2] if c.gains_high[2] <= 0.0 and self.g[i, 2] < 0.0 else self.g[i, 2]
            of_controller += kd * (self.r_rate[i] - true) ** 2
        self.trace.append({
            "x": self.x, "y": y, "r": wanted, "command": list(self.commands), "u": u, "g": self.g.ravel(),
            "entropy": (of_plant, of_controller), "seen": self.seen, "w": w,
        })  # fmt: skip
        if self.at_rest is not None:
            of_plant -= self.at_rest(wanted, t)
        late = t - max(jump for jump in self.jumps if jump <= t + 1e-9)
        total["ise"] += h * sum(e * e for e in errors)
        total["iae"] += h * sum(abs(e) for e in errors)
        total["itae"] += h * late * sum(abs(e) for e in errors)
        total["effort"] += h * sum(c * c for c in self.commands)
        total["entropy_plant"] += h * of_plant
        total["entropy_controller"] += h * of_controller
        total["entropy_difference"] += h * (of_plant - of_controller)
        total["entropy_difference_abs"] += h * abs(of_plant - of_controller)
        total["entropy_difference_square"] += h * (of_plant - of_controller) ** 2
        total["peak_command"] = max(total["peak_command"], *(abs(c) for c in self.commands))
        total["saturated_time"] += h * (any(self._at_limit(law) for law in self.laws) or self._at_weaker())
        for r, origin, error, c in zip(wanted, self.origin, errors, plant.channels, strict=True):
            way = r - origin
            progress = error * c.scale / (way if abs(way) > SHORT_WAY * c.scale else c.scale)
            total["overshoot"] = max(total["overshoot"], -progress)
            if abs(progress) > SETTLED:
                total["settling_time"] = t + h

    def _measure(self, k, u):
        """The plant's own measures, one by one."""
        w = tuple(source(k) for source in self.w)
        for one in self.plant.measures:
            m = self.own[one.name]
            asked = (tuple(source(k) for source in self.r),) if one.references else ()
            self.own[one.name] = one.update(k * self.step, tuple(self.x), tuple(u), w, self.p, m, self.step, *asked)

    @property
    def own_values(self):
        """The plant's own measures by name."""
        time = self.n_steps * self.step
        return {one.name: one.value(self.own[one.name], time) for one in self.plant.measures}

    def _at_weaker(self):
        """Whether an input that is sent is at the situation's own limits."""
        return self.situation.limits is not None and any(u in self.situation.limits for u in self.inputs[-1])

    @staticmethod
    def _at_limit(law):
        return law.s.limits is not None and law.command in law.s.limits
