"""What may not change a bit, for everything that a kernel is made of.

Results are equal to the last bit for one and two threads, for any split of a batch, with lanes partly filled, beside
rollouts that diverge, and with features compiled in that a situation does not use.

The first four are asked of compiled kernels, one for each way to treat an algebraic loop, one for the implicit
integrator and one with every option of a real loop. Whether a feature is neutral is decided by the text of a kernel:
which products are fused with which sums, what is selected. So it is asked of every single feature without compiling,
with the rounding of the compiled kernel.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from plants.core import cache
from plants.core.loops import MODES
from plants.excitation import Sine, Step, WhiteNoise
from sscq.closed_loop import ClosedLoop
from tests.plants.test_excitation import ALL as KINDS
from tests.reference.closed_loop_twin import uncompiled

H = 0.01
_POSITION, _VELOCITY = plants.get("nonlinear_inertia").states
INERTIA = replace(  # a narrow region, which bad gains leave
    plants.get("nonlinear_inertia"), name="narrow", states=(replace(_POSITION, low=-2.0, high=2.0), _VELOCITY)
)
LAW = PID(sample_time=2 * H, derivative_filter_time=0.05, limits=(-6.0, 6.0), rate_source="difference")
FEW = ("iae", "entropy_difference_abs", "total_variation", "settling_time")
GAINS = np.random.default_rng(0).uniform((1.0, 0.2, 1.0), (6.0, 2.0, 4.0), (37, 3))
WILD = {3: (-60.0, 0.0, -5.0), 20: (1e300, 0.0, -1e300), 36: (-60.0, 0.0, 0.0)}
# More steps than a block of noise has (1024) and than lie between two looks for dead chunks (256).
QUIET = sscq.Situation("quiet", 0.5, parameters={"a3": 0.2}, initial=(-0.4, 0.2), t_end=11.0)
NOISY = replace(QUIET, name="noisy", excitation=WhiteNoise(0.2, hold=H), initial=(0.3, 0.0), seed=4)
OPTIONS = {
    "quantisation": 0.0137, "dropout": 0.2, "command_dropout": 0.2, "rate_limit": 17.0, "dead_zone": 0.11,
    "backlash": 0.07, "jitter": 0.6, "delay": 0.025, "output_delay": 0.03, "noise": 0.02, "limits": (-3.0, 3.0),
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
    """All that a kernel gives back [situation, candidate, result]."""
    found = {}
    for group in loop.groups():
        outcome = loop.run(theta, group, threads=threads)
        columns = np.column_stack([outcome.steps, outcome.measures, outcome.watched])
        found |= zip(group, columns.reshape(len(group), len(theta), -1), strict=True)
    return np.array([found[number] for number in range(len(found))])


def same(found, wanted):
    """Equal to the bit, and so to the sign of a zero."""
    np.testing.assert_array_equal(found.view(np.int64), wanted.view(np.int64))


@pytest.fixture(scope="module", params=CASES)
def compiled(request):
    """A kernel, and what it gives for all candidates at once."""
    situations, options = CASES[request.param]
    loop = ClosedLoop(INERTIA, LAW, situations, H, **options)
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
        alone = loop.run(GAINS[:5], [number], threads=1)
        same(alone.measures.copy(), whole[number, :5, 1 : 1 + len(FEW)].copy())


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
    assert (found[0][gone, 0] < 1100).any()


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
        load = cache.load

        def patched(text):
            module = load(text)
            stack.enter_context(mock.patch.object(module, "fma", fused))
            return module

        cache.load = patched  # `uncompiled` puts it back
        yield


def short(situation, **changes):
    return replace(situation, t_end=0.3, **changes)


def by_text(situations, theta=GAINS[:2], lanes=1, plant=INERTIA, **options):
    loop = ClosedLoop(plant, LAW, situations, H, lanes=lanes, **(EULER | options))
    with rounded_as_compiled():
        return bits(loop, theta)


def test_texts_are_rounded_as_compiled(compiled):
    loop, _ = compiled
    situations = [short(situation) for situation in loop.situations]
    motion = loop.sampling.motion
    found = by_text(situations, integrator=motion.integrator, algebraic_loop=motion.mode)
    for number in range(len(situations)):
        ends = loop.run(GAINS[:2], [number], n_steps=30, threads=1)
        same(found[number], np.column_stack([ends.steps, ends.measures, ends.watched]))


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


@pytest.fixture(scope="module")
def kinds_together():
    """Situations with one kind of signal each, in a kernel that has them all; the last one has none."""
    several = [short(QUIET, name=f"with {name}", excitation=kind) for name, kind in KINDS.items()]
    return [*several, short(QUIET)], by_text([*several, short(QUIET)])


@pytest.mark.parametrize("number", range(len(KINDS) + 1), ids=[*KINDS, "none"])
def test_signals_of_others_are_neutral(kinds_together, number):
    situations, together = kinds_together
    same(by_text([situations[number]])[0], together[number])


@pytest.mark.parametrize("lanes", [2, pytest.param(16, marks=pytest.mark.slow)])
def test_signals_beside_others(kinds_together, lanes):
    """The first four properties of every kind of signal: two lanes of the text, or the compiled kernel."""
    near = replace(INERTIA, states=(replace(_POSITION, low=-0.5, high=0.5), _VELOCITY))
    situations = [replace(one, initial=(-0.4, -0.4), t_end=0.15) for one in kinds_together[0]]
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
