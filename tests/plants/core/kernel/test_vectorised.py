"""The gate: the lanes of every kernel family are computed side by side, by packed instructions.

Whether a loop is vectorised is the compiler's decision and fails silently: results stay right and take 8 to 12 times
as long. So the arithmetic instructions of the compiled rollout are counted. Counted is the rollout alone: the functions
that make noise are calls, once per 1024 samples, and scalar by design.
"""

import re
from dataclasses import replace

import numpy as np
import pytest

import controllers
import flcs
import plants
import sscq
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ARGUMENTS
from plants.excitation import (
    PRBS,
    GammaFilter,
    NonlinearFilter,
    PeakFilter,
    RayleighFilter,
    Road,
    Sine,
    UniformPeakFilter,
    WhiteNoise,
)
from sscq.loop.closed_loop import ClosedLoop
from tests.flcs.conftest import make_kb

# A kernel that vectorises has a handful of scalar operations per step (time, h / 2, h / 6) and, where accelerations are
# iterated, 16 per Newton loop to find the worst lane: 0.82 (iterated), else 0.90 to 0.98 of all arithmetic is packed.
# The loop that moves the plant holds most of it; when that alone stayed scalar, shares of 0 to 0.7 were seen.
SHARE = 0.8

ARITHMETIC = r"(?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\d*)"
PACKED = re.compile(
    rf"^\s+(?:v?{ARITHMETIC}pd|f(?:add|sub|mul|div|sqrt|mla|mls|min|max)\w*\s+v\d+\.2d)\b", re.MULTILINE
)
SCALAR = re.compile(
    rf"^\s+(?:v?{ARITHMETIC}sd|f(?:n?madd|n?msub|add|sub|mul|div|sqrt|min|max)\w*\s+d\d+)\b", re.MULTILINE
)
VDP, INERTIA = plants.get("van_der_pol"), plants.get("nonlinear_inertia")
PLAIN = sscq.Situation(name="plain", reference=1.5, t_end=1.0)
RICH = replace(
    PLAIN, reference=0.5 + Sine(0.2, 0.15), excitation=WhiteNoise(0.3, hold=0.1), delay=0.035, output_delay=0.04,
    noise=0.02, limits=(-2.5, 2.5), jitter=0.5, quantisation=0.01, dropout=0.1, command_dropout=0.1, rate_limit=20.0,
    dead_zone=0.1, backlash=0.05,
)  # fmt: skip
SAMPLED = controllers.PID(sample_time=0.02, derivative_filter_time=0.05)
TABLE = controllers.GainTable("position", (0.0, 1.0), transform="square", search_scale=True)
FEW = {"measures": ("iae", "entropy_difference_abs", "total_variation")}
FILTERS = (
    RayleighFilter(1.0, 1.0) + GammaFilter(1.0, 1.0) + PeakFilter(1.0, 1.0) + UniformPeakFilter(1.0, 1.0)
    + NonlinearFilter(c0=0.2) + Road("C", 20.0) + PRBS(1.0, 0.1)
)  # fmt: skip
FAMILIES = {
    "pid": (VDP, controllers.PID(), PLAIN, FEW),
    "noise": (VDP, controllers.PID(), replace(PLAIN, noise=0.1, excitation=WhiteNoise(0.3, hold=0.1)), FEW),
    "delay": (VDP, controllers.PID(), replace(PLAIN, delay=0.1), FEW),
    "everything": (VDP, SAMPLED, RICH, {}),
    "filters": (VDP, controllers.PID(), replace(PLAIN, excitation=FILTERS), FEW),
    "solved": (INERTIA, controllers.PID(), PLAIN, FEW),
    "iterated": (INERTIA, controllers.PID(), PLAIN, FEW | {"algebraic_loop": "iterated", "integrator": "heun"}),
    "iterated_exact": (
        INERTIA,
        controllers.PID(),
        PLAIN,
        FEW | {"algebraic_loop": "iterated_exact", "integrator": "euler"},
    ),
    "gauss_seidel": (
        INERTIA,
        controllers.PID(),
        PLAIN,
        FEW | {"algebraic_loop": "gauss_seidel", "integrator": "euler"},
    ),
    "implicit": (INERTIA, controllers.PID(), PLAIN, FEW | {"integrator": "rosenbrock"}),
    "loop_free": (INERTIA, controllers.PID(), PLAIN, FEW | {"algebraic_loop": "loop_free"}),
    "loop_free_filtered": (INERTIA, controllers.PID(), PLAIN, FEW | {"algebraic_loop": "loop_free_filtered"}),
    "two degrees": (VDP, controllers.TwoDegreePID(), PLAIN, FEW),
    "fuzzy": (VDP, flcs.FuzzyController(make_kb(tick=0.02)), PLAIN, FEW),
    "smooth fuzzy": (VDP, flcs.FuzzyController(make_kb("gaussian", order=1, tick=0.02, slew=2.0)), PLAIN, FEW),
    "table": (VDP, controllers.Controller(controllers.PID(), TABLE), PLAIN, FEW),
    "station": (VDP, controllers.ManualStation(controllers.PID(), 1.0), PLAIN, FEW),
}
LONG = {"filters", "smooth fuzzy", "loop_free_filtered"}  # to compile


def counts(text):
    """Numbers of packed and of scalar arithmetic instructions in the rollout, compiled afresh."""
    assembly = machine_code.assembly(text, ARGUMENTS)
    body = re.search(r"^sscq_kernel:\n(.*?)^\s*\.size\s+sscq_kernel", assembly, re.MULTILINE | re.DOTALL).group(1)
    return len(PACKED.findall(body)), len(SCALAR.findall(body))


@pytest.mark.parametrize("family", [pytest.param(f, marks=pytest.mark.slow) if f in LONG else f for f in FAMILIES])
def test_lanes_are_computed_side_by_side(family):
    plant, law, situation, options = FAMILIES[family]
    packed, scalar = counts(ClosedLoop(plant, law, (situation,), 0.01, **options).kernel.text)
    assert packed >= 30, (packed, scalar)
    assert packed / (packed + scalar) >= SHARE, (packed, scalar)


@pytest.mark.slow
@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_lanes_of_every_plant_are_computed_side_by_side(name):
    situation = sscq.Situation(name="plain", t_end=1.0)
    packed, scalar = counts(ClosedLoop(plants.get(name), controllers.PID(), (situation,), 0.01).kernel.text)
    assert packed >= 30, (packed, scalar)
    assert packed / (packed + scalar) >= SHARE, (packed, scalar)


def test_the_gate_sees_a_kernel_of_one_lane_and_its_bits_are_the_same():
    plant, law, situation, options = FAMILIES["pid"]
    one = ClosedLoop(plant, law, (situation,), 0.01, lanes=1, **options)
    packed, scalar = counts(one.kernel.text)
    assert scalar >= 30, (packed, scalar)
    assert packed / (packed + scalar) < SHARE, (packed, scalar)
    gains = np.random.default_rng(0).uniform(0.5, 5.0, (20, 3))
    many = ClosedLoop(plant, law, (situation,), 0.01, **options).evaluate(gains)
    alone = one.evaluate(gains)
    for name in FEW["measures"]:
        np.testing.assert_array_equal(getattr(alone, name), getattr(many, name), err_msg=name)
