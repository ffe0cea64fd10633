"""What may not change a bit, for everything that a kernel is made of.

Results are equal to the last bit for one and two threads, for any split of a batch, with lanes partly filled, beside
rollouts that diverge, and with features compiled in that a situation does not use.

The first four are asked of compiled kernels, one for each way to treat an algebraic loop, one for the implicit
integrator and one with every option of a real loop. Whether a feature is neutral is decided by the text of a kernel:
which products are fused with which sums, what is selected. So it is asked of every single feature without compiling,
with the rounding of the compiled kernel.
"""

import math
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sscq
from controllers import PID
from plants import Channel, Plant, Quantity
from plants.core.kernel import cache
from plants.core.kernel.drawn import ROOM
from plants.core.motion.modes import MODES
from plants.excitation import Chirp, Ramp, Sine, Step, UniformFilter, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from tests.plants.core.signals.test_excitation import ALL
from tests.reference.closed_loop_twin import uncompiled

H = 0.05  # long: what a step adds is not small against the state, so that roundings reach it
TEXT_STEPS = 60


def acceleration(t, x, a, u, w, p):
    """A mass whose equation needs several steps of Newton."""
    (q, v), (damping, inertia) = x, p
    loop = inertia * (q * q + 0.01 * a[0] * a[0]) * a[0]
    return (0.3 + w[0] + u[0] - damping * v - (1.0 + 0.3 * q) * q - loop,)


def outputs(t, x, u, w, p):
    """Products, which only their own rounding keeps from being fused with the sums that follow."""
    return (1.0 + 0.1 * x[0]) * x[0], (1.0 + 0.1 * x[0]) * x[1]


BLOCK = Plant(
    name="block", states=(Quantity("position", "m", 0.0, -2.0, 2.0), Quantity("velocity", "m/s", 0.0)),
    parameters=(Quantity("damping", "N s/m", 0.5), Quantity("inertia", "kg/m^2", 0.2)), inputs=(Quantity("force", "N"),),
    disturbances=(Quantity("push", "N"),), channels=(Channel(output="position", rate="velocity"),),
    acceleration=acceleration, outputs=outputs, allocate=lambda t, x, commands, p: ((1.0 + 0.1 * x[0]) * commands[0],),
    entropy_rate=lambda t, x, u, w, p: p[0] * x[1] * x[1],
)  # fmt: skip
LAW = PID(sample_time=2 * H, derivative_filter_time=2.5 * H, limits=(-6.0, 6.0), rate_source="difference")
EACH_STEP = replace(LAW, sample_time=None)  # all lane loops are joined to one
FEW = ("iae", "entropy_difference_abs", "total_variation", "settling_time")
GAINS = np.random.default_rng(0).uniform((0.5, 0.1, 0.5), (2.0, 0.5, 1.5), (37, 3))
WILD = {3: (-60.0, 0.0, -5.0), 20: (1e300, 0.0, -1e300), 36: (-60.0, 0.0, 0.0)}
# More steps than a block of noise has (1024) and than lie between two looks for dead chunks (256).
QUIET = sscq.Situation("quiet", 0.5, initial=(-0.4, 0.2), t_end=1100 * H)
NOISY = replace(QUIET, name="noisy", excitation=WhiteNoise(0.2, hold=H), initial=(0.3, 0.0), seed=4)
OPTIONS = {
    "quantisation": 0.0137, "dropout": 0.2, "command_dropout": 0.2, "rate_limit": 17.0, "dead_zone": 0.11,
    "backlash": 0.07, "jitter": 0.6, "delay": 0.06, "output_delay": 0.07, "noise": 0.02, "limits": (-3.0, 3.0),
    "reference": 0.5 + Sine(0.2, 0.4),
}  # fmt: skip
WORN = replace(NOISY, name="worn", **OPTIONS)
REAL = (QUIET, WORN, replace(WORN, name="other", seed=5, jitter=0.2, dropout=0.0, backlash=0.0))
EULER = {"integrator": "euler", "measures": FEW}
# Random numbers are drawn beside the lane loops, whatever these do: they are part of one case.
PAIR = (QUIET, replace(QUIET, name="pair", reference=Step(0.4, at=0.5), initial=(0.3, 0.0)))
CASES = {
    **{mode: (PAIR, EULER | {"algebraic_loop": mode}) for mode in MODES},
    "rosenbrock": (PAIR, EULER | {"integrator": "rosenbrock"}),
    "real_loop": (REAL, EULER),
}


def bits(loop, theta, threads=1):
    """All that a kernel gives back, and the last state [situation, candidate, result]."""
    found = {}
    for group in loop.groups():
        columns = given_back(loop, loop.run(theta, group, threads=threads, keep=True))
        found |= zip(group, columns.reshape(len(group), len(theta), -1), strict=True)
    return np.array([found[number] for number in range(len(found))])


def given_back(loop, outcome):
    state = outcome.snapshot.rows[:, loop.design.rows.span("x")]
    return np.column_stack([outcome.steps, outcome.measures, outcome.watched, state])


def same(found, wanted):
    """Equal to the bit, and so to the sign of a zero."""
    np.testing.assert_array_equal(found.view(np.int64), wanted.view(np.int64))


@pytest.fixture(scope="module", params=CASES)
def compiled(request):
    """A kernel, and what it gives for all candidates at once."""
    situations, options = CASES[request.param]
    loop = ClosedLoop(BLOCK, LAW, situations, H, **options)
    whole = bits(loop, GAINS)
    assert len(np.unique(whole[..., 1])) == whole[..., 1].size  # it tells all rollouts apart
    assert (whole[..., 0] == 1100).all()  # and none diverges
    return loop, whole


# ------------------------------------------------------------------------------------------------ who runs beside whom


def test_threads(compiled):
    loop, whole = compiled
    same(bits(loop, GAINS, threads=2), whole)


@settings(max_examples=8)
@given(cuts=st.sets(st.integers(1, 36), min_size=1, max_size=6))
def test_splits_of_the_batch(compiled, cuts):
    loop, whole = compiled
    parts = [bits(loop, part) for part in np.split(GAINS, sorted(cuts))]
    same(np.concatenate(parts, axis=1), whole)


def test_splits_of_the_situations(compiled):
    loop, whole = compiled
    for number in range(len(loop.situations)):
        same(given_back(loop, loop.run(GAINS[:5], [number], threads=1, keep=True)), whole[number, :5])


@pytest.mark.parametrize("count", [1, 20])
def test_numbers_drawn_beforehand(compiled, count):
    """The first run draws its own random numbers, all others read what was drawn for them."""
    loop, whole = compiled
    new = loop.repeated(0)
    first = new.evaluate(GAINS[:count], 1)
    calls = [new.call(tuple(group)) for group in new.groups()]
    assert all(call.repeated.streams is call.streams for call in calls)
    assert sum(call.repeated.room for call in calls) <= ROOM
    for _ in range(2):
        again = new.evaluate(GAINS[:count], 1)
        for name, values in first.until_lost.items():
            same(again.until_lost[name], values)
    assert any(call.repeated.streams is not call.streams for call in calls) == bool(new.design.streams)
    same(bits(new, GAINS[:count]), whole[:, :count])


def test_numbers_of_sub_steps_drawn_beforehand():
    """A filter that draws several numbers a step: more of them than a block has, in fewer steps."""
    several = replace(QUIET, excitation=UniformFilter(0.3, 1.0), t_end=400 * H)
    loop = ClosedLoop(BLOCK, EACH_STEP, [several], H, lanes=1, **EULER)
    with uncompiled():
        first, again = (bits(loop, GAINS[:1]) for _ in range(2))
    call = loop.call((0,))
    assert call.repeated.streams is not call.streams
    assert call.repeated.streams[2].shape[1] == 2 * 1024
    same(again, first)


@pytest.mark.parametrize("count", [1, 7, 15, 16, 17, 33])
def test_lanes_partly_filled(compiled, count):
    loop, whole = compiled
    same(bits(loop, GAINS[:count]), whole[:, :count])


@pytest.mark.parametrize("count", [5, 37])
def test_divergence(compiled, count):
    """Beside others of the same situation, and (few candidates) in lanes that are other situations."""
    loop, whole = compiled
    wild, gone = GAINS.copy(), [k for k in WILD if k < count]
    for k, gains in WILD.items():
        wild[k] = gains
    found = bits(loop, wild[:count])
    kept = [k for k in range(count) if k not in WILD]
    same(found[:, kept], whole[:, kept])
    assert (found[0][gone, 0] < 1100).any()  # beside them one did


# ---------------------------------------------------------------------------------------------------- neutral features


def fused(a, b, c):
    """a * b + c, rounded once, as the compiled kernels do."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return float(exact) if exact else a * b + c  # of which the sign is right


@contextmanager
def rounded_as_compiled():
    """Kernels run as plain Python, with the bits of the compiled ones."""
    with uncompiled(), ExitStack() as stack:
        plain = cache.function

        def patched(text, arguments):
            rollout = plain(text, arguments)
            stack.enter_context(mock.patch.dict(rollout.__globals__, fma=fused))
            return rollout

        cache.function = patched  # `uncompiled` puts it back
        yield


def short(situation, **changes):
    return replace(situation, t_end=TEXT_STEPS * H, **changes)


def by_text(situations, law=EACH_STEP, gains=GAINS[:1], **options):
    loop = ClosedLoop(BLOCK, law, situations, H, lanes=1, **(EULER | options))
    with rounded_as_compiled():
        return bits(loop, gains)


def test_texts_are_rounded_as_compiled(compiled):
    loop, _ = compiled
    situations = [replace(situation, t_end=TEXT_STEPS * H) for situation in loop.situations]
    motion = loop.sampling.motion
    found = by_text(situations, LAW, integrator=motion.integrator, algebraic_loop=motion.mode)
    for number in range(len(situations)):
        ends = loop.run(GAINS[:1], [number], n_steps=TEXT_STEPS, threads=1, keep=True)
        same(found[number], given_back(loop, ends))


@pytest.mark.parametrize("mode", [*MODES, "rosenbrock"])
def test_a_feature_of_others_is_neutral_in_every_mode(mode):
    options = {"integrator": mode} if mode == "rosenbrock" else {"integrator": "heun", "algebraic_loop": mode}
    together = by_text([short(s) for s in (*REAL, NOISY)], **options)
    for number, situation in ((0, QUIET), (3, NOISY)):
        same(by_text([short(situation)], **options)[0], together[number])


@pytest.fixture(scope="module")
def options_together():
    """Situations with one option each, in a kernel that has them all; the last one has none."""
    several = [short(NOISY, name=f"with {name}", **{name: value}) for name, value in OPTIONS.items()]
    return [*several, short(NOISY)], by_text([*several, short(NOISY)])


@pytest.mark.parametrize("number", range(len(OPTIONS) + 1), ids=[*OPTIONS, "none"])
def test_options_of_others_are_neutral(options_together, number):
    situations, together = options_together
    same(by_text([situations[number]])[0], together[number])


def test_an_option_is_not_neutral_where_it_is_used(options_together):
    _, together = options_together
    assert len(np.unique(together[:, 0, 1])) == len(OPTIONS) + 1


KINDS = ALL | {  # amplitudes that are no powers of 2: their products are rounded
    "sine": Sine(0.47, 0.3, 0.2), "ramp": Ramp(0.13, 0.4, 2.0), "chirp": Chirp(0.47, 0.1, 2.0, 30.0),
    "fast_chirp": Chirp(0.47, 0.1, 2.0, 30.0, "exponential"),
}  # fmt: skip
FREE, NONE = replace(QUIET, parameters={"damping": 0.0}), np.zeros((1, 3))


@pytest.fixture(scope="module")
def kinds_together():
    """Situations with one kind of signal each, in a kernel that has them all; the last one has none."""
    # In open loop and without damping: what a rounding does to the velocity is not forgotten.
    several = [short(FREE, name=f"with {name}", excitation=kind) for name, kind in KINDS.items()]
    return [*several, short(FREE)], by_text([*several, short(FREE)], gains=NONE)


@pytest.mark.parametrize("number", range(len(KINDS) + 1), ids=[*KINDS, "none"])
def test_signals_of_others_are_neutral(kinds_together, number):
    situations, together = kinds_together
    same(by_text([situations[number]], gains=NONE)[0], together[number])


@pytest.mark.parametrize("lanes", [2, pytest.param(16, marks=pytest.mark.slow)])
def test_signals_beside_others(kinds_together, lanes):
    """The first four properties of every kind of signal: two lanes of the text, or the compiled kernel."""
    position, velocity = BLOCK.states
    near = replace(BLOCK, states=(replace(position, low=-0.5, high=0.5), velocity))
    situations = [replace(one, parameters=None, initial=(-0.4, -0.4), t_end=15 * H) for one in kinds_together[0]]
    loop = ClosedLoop(near, LAW, situations, H, lanes=lanes, **EULER)
    gains = GAINS[: lanes + 1]
    wild = np.vstack([WILD[3], gains[1:]])
    with uncompiled() if lanes == 2 else nullcontext(), np.errstate(all="ignore"):
        whole = bits(loop, gains)
        same(bits(loop, gains, threads=2), whole)
        same(np.concatenate([bits(loop, gains[:1]), bits(loop, gains[1:])], axis=1), whole)
        beside = bits(loop, wild)
    same(beside[:, 1:], whole[:, 1:])
    gone = beside[:, 0, 0] < 15
    assert gone.sum() > len(KINDS) // 2
    assert (whole[gone, 1, 0] == 15).any()
