"""Slopes in one sweep: the same numbers as one sweep for each input, at a cost that does not grow with their number."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plants.core.elementary import atan2, clip, exp, log, maximum, minimum, quotient, sin, sqrt, tan, tanh, where
from plants.core.tracing.gradients import along, gradient
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, differentiate
from tests.reference import expressions
from tests.reference.rounding import spread

NUMBER = st.floats(-3.0, 3.0)
POINT = st.tuples(NUMBER, NUMBER, NUMBER)
TREE = st.randoms(use_true_random=False).map(lambda rng: expressions.grow(rng, 4))


def program_of(tape, names, values):
    return Program(tape, tuple(names), tuple(tape.lift(value).index for value in values))


def operations(tape, values):
    return sum(tape.counts(tape.lift(value).index for value in values).values())


def agree(ours, theirs, point):
    """Two programs for one thing: each is off by what its own rounding explains (argued in test_tape.py)."""
    arrays = [np.full(1, value) for value in point]
    tolerance = spread(ours, arrays)[:, 0] + spread(theirs, arrays)[:, 0]
    assume(np.isfinite(tolerance).all())
    # `spread` took 4 ulp for each operation and is a maximum of 8 trials: 8 of it is far outside.
    assert (np.abs(np.subtract(ours(*point), theirs(*point))) <= 8.0 * tolerance + 1e-15).all()


@given(TREE, POINT)
def test_a_gradient_is_the_row_of_forward_slopes(tree, point):
    tape = Tape()
    inputs = [tape.input(name) for name in "abc"]
    value = tape.lift(expressions.block(tree)(*inputs)[0])
    (forward,) = differentiate([value], inputs)
    agree(program_of(tape, "abc", gradient(value, inputs)), program_of(tape, "abc", forward), point)


@given(TREE, TREE, POINT, POINT)
def test_along_a_direction_is_the_jacobian_times_it(tree, other, point, direction):
    tape = Tape()
    inputs, turns = [tape.input(name) for name in "abc"], [tape.input(name) for name in "uvw"]
    values = [tape.lift(value) for value in expressions.block(tree, other)(*inputs)]
    rows = differentiate(values, inputs)
    expected = [sum((s * t for s, t in zip(row, turns, strict=True)), 0.0) for row in rows]
    ours = program_of(tape, "abcuvw", along(values, inputs, turns))
    agree(ours, program_of(tape, "abcuvw", expected), point + direction)


FORMULAS = {  # every smooth operation, in the language of cmath: the imaginary part of f(x + i h) / h has no cancellation
    "arithmetic": (lambda x, y, z: x * y / z - (x - z) / (y + 4.0), lambda x, y, z: x * y / z - (x - z) / (y + 4.0)),
    "negations": (lambda x, y, z: -(-x * y - z) * -x, lambda x, y, z: -(-x * y - z) * -x),
    "quotient": (lambda x, y, z: quotient(x * y, z), lambda x, y, z: x * y / z),
    "powers": (lambda x, y, z: x**3 + y**-2 + z**1.5, lambda x, y, z: x**3 + y**-2 + z**1.5),
    "power": (lambda x, y, z: (x * x) ** (y * z), lambda x, y, z: (x * x) ** (y * z)),
    "waves": (lambda x, y, z: sin(x * y) * tan(z / 9.0), lambda x, y, z: cmath.sin(x * y) * cmath.tan(z / 9.0)),
    "tanh": (lambda x, y, z: tanh(x - y) * z, lambda x, y, z: cmath.tanh(x - y) * z),
    "exp": (lambda x, y, z: exp(x * y) / sqrt(z), lambda x, y, z: cmath.exp(x * y) / cmath.sqrt(z)),
    "log": (lambda x, y, z: log(x + z) * y, lambda x, y, z: cmath.log(x + z) * y),
    "angle": (lambda x, y, z: atan2(x * z, y), lambda x, y, z: cmath.atan(x * z / y)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_slopes_agree_with_complex_steps(name):
    block, peer = FORMULAS[name]
    tape = Tape()
    inputs = [tape.input(letter) for letter in "xyz"]
    value = block(*inputs)
    reverse = program_of(tape, "xyz", gradient(value, inputs))
    forward = program_of(tape, "xyz", [along([value], inputs, np.eye(3)[k])[0] for k in range(3)])
    for point in np.random.default_rng(1).uniform(0.5, 2.0, (20, 3)):
        exact = [peer(*(point + 1e-30j * np.eye(3)[k])).imag / 1e-30 for k in range(3)]
        # A dozen operations on numbers near 1, none ill conditioned here: some 1e-15, exp(4) times as much at most.
        np.testing.assert_allclose(reverse(*point), exact, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(forward(*point), exact, rtol=1e-13, atol=1e-13)


def products(n):
    """Sum over j of x[j] x[j + 1] x[j + 2], sines of some of them among it."""
    tape = Tape()
    x = [tape.input(f"x{k}") for k in range(n)]
    terms = [x[k] * x[(k + 1) % n] * sin(x[(k + 2) % n]) for k in range(n)]
    value = terms[0]
    for term in terms[1:]:
        value = value + term
    return tape, x, value


def test_the_cost_of_a_gradient_does_not_grow_with_the_number_of_inputs():
    shares = []
    for n in (10, 20, 80):
        tape, x, value = products(n)
        shares.append(operations(tape, [value, *gradient(value, x)]) / operations(tape, [value]))
    assert shares[1] < 4.0
    # By hand, for each input: 4 operations forward; back 3 products, a cosine and 2 sums. The value has one sum less.
    assert shares == [(10 * n - 1) / (4 * n - 1) for n in (10, 20, 80)]


def test_a_direction_costs_one_sweep():
    counts = []
    for n in (10, 20):
        tape, x, value = products(n)
        counts.append(operations(tape, along([value], x, x)))
    assert counts[1] / counts[0] == pytest.approx(2.0, abs=0.1)  # differentiate along each input would give 4


def test_shares_of_both_branches_meet_in_one_select():
    tape = Tape()
    x, y, z = (tape.input(name) for name in "xyz")
    slopes = gradient(where(x, x * y, x * z) + z, [x, y, z])
    assert tape.counts([slopes[0].index]) == {"where": 1}
    program = program_of(tape, "xyz", slopes)
    assert program(1.0, 2.0, 3.0) == (2.0, 1.0, 1.0)
    assert program(-1.0, 2.0, 3.0) == (3.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("block", "point", "slope"),
    [
        (lambda x: where(x, sqrt(x), 0.0), -1.0, 0.0),
        (lambda x: where(x, x * log(x), 3.0 * x), -1.0, 3.0),
        (lambda x: where(x, where(x - 1.0, log(x - 1.0), sqrt(x)), 2.0 * x), 0.25, 1.0),
        (lambda x: where(x, where(x - 1.0, log(x - 1.0), sqrt(x)), 2.0 * x), -1.0, 2.0),
        (lambda x: maximum(x, 0.0) ** 0.5 + minimum(log(x), -x), 4.0, -0.75),
        (lambda x: where(x, log(x) * x, 0.0) + where(x, log(x), 0.0), -1.0, 0.0),
    ],
)
def test_a_branch_that_is_not_chosen_gives_nothing_even_where_it_is_not_finite(block, point, slope):
    tape = Tape()
    x = tape.input("x")
    (ours,) = gradient(block(x), [x])
    ((forward,),) = differentiate([block(x)], [x])
    assert program_of(tape, "x", [forward])(point) == pytest.approx((slope,), nan_ok=True)
    assert program_of(tape, "x", [ours])(point) == pytest.approx((slope,), nan_ok=True)


def test_limits_hand_on_the_slope_of_what_they_take():
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    program = program_of(tape, "xy", gradient(clip(x * y, -1.0, 1.0) * y, [x, y]))
    assert program(0.25, 2.0) == (4.0, 1.0)
    assert program(3.0, 2.0) == (0.0, 1.0)


def test_what_does_not_depend_has_the_slope_zero():
    tape = Tape()
    x, y, z = (tape.input(name) for name in "xyz")
    assert gradient(3.0, [x, y]) == [0.0, 0.0]
    assert gradient(tape.constant(3.0), [x]) == [0.0]
    assert gradient(x, [y, x]) == [0.0, 1.0]
    assert gradient(where(z, x.tape.apply("sign", y), 1.0), [z, y]) == [0.0, 0.0]
    assert along([2.0, y, x * y], [x], [0.0]) == [0.0, 0.0, 0.0]
    assert along([2.0], [x], [z]) == [0.0]


def test_inputs_may_be_any_numbers_of_the_tape():
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    square = x * x
    values = gradient(sin(square) * y, [square, x, x])
    program = program_of(tape, "xy", values)
    np.testing.assert_allclose(program(0.5, 2.0), [2.0 * math.cos(0.25)] * 3, rtol=1e-15)  # 2 x is 1 here
    both = program_of(tape, "xy", along([square * y], [x, square, x], [1.0, y, 2.0]))
    assert both(0.5, 2.0) == (2.0 * (2.0 + 3.0),)  # y (direction of the square + 3 times 2 x)


def test_a_direction_for_each_input_is_needed():
    x = Tape().input("x")
    with pytest.raises(ValueError, match="one direction for each input, got 2 for 1 inputs"):
        along([x * x], [x], [1.0, 2.0])
