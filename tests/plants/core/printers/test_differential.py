"""Random programs over all elementary operations: machine code, C and plain Python give the same numbers.

`make differential COUNT=1000` runs more of them.
"""

import math
import random
import shutil

import numpy as np
import pytest

from plants.core.elementary_kernels import KERNELS
from plants.core.printers import c
from plants.core.printers.python import Printed
from plants.core.tracing import scalar
from plants.core.tracing.tape import Traced
from plants.core.tracing.trace import trace
from tests.plants.core.printers.test_c_printer import SPECIAL, built, called, rounded_once
from tests.reference.random_programs import grown

WIDTH, LENGTH, OUTPUTS = 4, 60, 6
INPUTS = tuple(f"in[{k}]" for k in range(WIDTH))  # as a lane names them: the order of a product's factors hangs on it
OWN_ERROR = 1.0  # of the C library behind `math`, in units in the last place


def block(seed, *, every=False):
    """The block of the seed's program; of `every` number on its tape, or of the last few."""

    def program(*numbers):
        found = grown(numbers, random.Random(seed), LENGTH)
        if not every:
            return tuple(found[-OUTPUTS:])
        return tuple(Traced(found[0].tape, node) for node in range(len(found[0].tape)))

    return program


def points(seed, count=48):
    """Inputs [count, WIDTH]: usual and wide numbers, and special ones among them."""
    rng = np.random.default_rng(seed)
    usual = rng.normal(0.0, 2.0, (count, WIDTH))
    wide = rng.choice([-1.0, 1.0], (count, WIDTH)) * np.exp(rng.uniform(-40.0, 40.0, (count, WIDTH)))
    found = np.where(rng.uniform(size=usual.shape) < 0.2, wide, usual)
    return np.where(rng.uniform(size=usual.shape) < 0.1, rng.choice(np.array(SPECIAL), usual.shape), found)


def same(found, wanted):
    """Equal to the bit; the sign of NaN is nobody's."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    known = ~np.isnan(found)
    np.testing.assert_array_equal(found[known].view(np.int64), wanted[known].view(np.int64))


def assert_each_step_is_right(program, values):
    """Each number [node, point] is its operation on the numbers before it."""
    fused = Printed(program.tape, program.outputs, dict.fromkeys(program.tape.input_names, ""))._product
    for node in program.outputs:
        name, arguments = program.tape.operations[node], program.tape.arguments[node]
        if name not in {"input", "const"}:
            for k, found in enumerate(values[node].tolist()):
                given = [float(values[a][k]) for a in arguments]
                product = fused(node)
                if product is None:
                    wanted = scalar.OPERATIONS[name](*given)
                else:
                    wanted = fused_sum(program.tape, node, product, values[:, k])
                assert right(name, given, found, wanted), (node, name, given, found, wanted)


def fused_sum(tape, node, product, values):
    a, b = (float(values[n]) for n in tape.arguments[product])
    left, right_ = tape.arguments[node]
    if tape.operations[node] == "add":
        return rounded_once(a, b, float(values[right_ if left == product else left]))
    return rounded_once(a, b, -float(values[right_])) if left == product else rounded_once(-a, b, float(values[left]))


def right(name, given, found, wanted):
    """Whether a result is as exact as its kernel says, where it says so."""
    if math.isnan(found) or math.isnan(wanted):
        return (math.isnan(found) and math.isnan(wanted)) or not declared(name, given, wanted)
    kernel = KERNELS.get("sincos" if name in {"sin", "cos"} else name)
    if kernel is None or kernel.error_ulp <= 0.5:
        return found == wanted and math.copysign(1.0, found) == math.copysign(1.0, wanted)
    if not declared(name, given, wanted) or found == wanted:
        return True
    if math.isinf(wanted) or math.isinf(found):
        return min(abs(found), abs(wanted)) > 1.7e308 and (found > 0.0) == (wanted > 0.0)
    return abs(found - wanted) <= (kernel.error_ulp + OWN_ERROR) * max(math.ulp(found), math.ulp(wanted))


def declared(name, given, wanted):
    """Whether the arguments are in the range in which a kernel's error is bounded."""
    kernel = KERNELS.get("sincos" if name in {"sin", "cos"} else name)
    if kernel is None:
        return True
    small = name == "quotient" and (not math.isfinite(wanted) or 0.0 < abs(wanted) < 1e-290)  # as it says
    inside = (low <= v <= high or low <= abs(v) <= high for v, (low, high) in zip(given, kernel.domain, strict=True))
    return all(inside) and not small


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("count") or 6))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_machine_code_c_and_plain_python_agree(seed, compiled, tmp_path):
    rows = points(seed)
    whole = trace(block(seed, every=True), *INPUTS)
    few = compiled(block(seed), WIDTH, OUTPUTS)(*rows.T)
    values = compiled(block(seed, every=True), WIDTH, len(whole.outputs))(*rows.T)
    assert_each_step_is_right(whole, values)
    program = trace(block(seed), *INPUTS)
    same(few, values[list(program.outputs)])  # whatever else the kernel computes
    same(called(built(tmp_path, c.function("program", program)), "program", rows, OUTPUTS).T, few)
