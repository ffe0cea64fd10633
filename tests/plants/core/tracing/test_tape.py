"""The tape: the same numbers as the block itself, exact slopes, and refusals that name the line."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, exp, floor, maximum, minimum, sign, sin, sqrt, where
from plants.core.replay import replay
from plants.core.tracing.tape import Tape, Traced, TracingError
from plants.core.tracing.trace import Program, differentiate, trace
from tests.reference import expressions
from tests.reference.rounding import spread

NUMBER = st.floats(-3.0, 3.0)
POINT = st.tuples(NUMBER, NUMBER, NUMBER)
TREE = st.randoms(use_true_random=False).map(lambda rng: expressions.grow(rng, 4))
SMOOTH_TREE = st.randoms(use_true_random=False).map(lambda rng: expressions.grow(rng, 3, expressions.SMOOTH))


def arrays(point):
    return [np.full(1, value) for value in point]


@given(TREE, POINT)
def test_plain_python_arrays_and_tape_agree(tree, point):
    block = expressions.block(tree)
    program = trace(block, "a", "b", "c")
    tolerance = spread(program, arrays(point))[0, 0]
    assume(np.isfinite(tolerance))
    (plain,) = block(*point)
    (taped,) = program(*point)
    (vectorised,) = block(*arrays(point))
    (replayed,) = replay(program, *arrays(point))
    # Each evaluation's operations are within 1 ulp, `spread` took 4; the factor is for its being a maximum of trials.
    # A flip of floor, sign or where at its edge shows in the spread as well.
    for other in (taped, vectorised, replayed):
        np.testing.assert_allclose(np.ravel(other)[0], plain, rtol=4e-16, atol=8.0 * tolerance)


@given(SMOOTH_TREE, POINT)
def test_slopes_agree_with_differences(tree, point):
    block = expressions.block(tree)
    slopes = slopes_of(block)
    assume(np.isfinite(spread(slopes, arrays(point))).all())
    exact = np.array(slopes(*point))
    coarse, fine = (central_differences(block, point, size) for size in (2e-4, 1e-4))
    # Where the two differences disagree the third derivative is large: no yardstick there. Their error is its h^2 / 6
    # and rounding of 1e-16 / 1e-4 times the value; a wrong term of the chain rule is far larger.
    assume(np.allclose(coarse, fine, rtol=1e-4, atol=1e-5))
    np.testing.assert_allclose(exact, fine, rtol=1e-3, atol=1e-4)


def slopes_of(block):
    tape = Tape()
    a, b, c = (tape.input(name) for name in "abc")
    results = [tape.lift(value) for value in block(a, b, c)]
    table = differentiate(results, [a, b, c])
    return Program(tape, ("a", "b", "c"), tuple(tape.lift(slope).index for row in table for slope in row))


def central_differences(block, point, size):
    columns = []
    for k in range(3):
        up, down = list(point), list(point)
        up[k] += size
        down[k] -= size
        columns.append((block(*up)[0] - block(*down)[0]) / (2.0 * size))
    return np.array(columns)


def test_equal_operations_are_one_node_and_dead_code_is_dropped():
    program = trace(lambda x, y: ((x + y) * (y + x) + sin(x) * 0.0, sin(x) - sin(x)), "x", "y")
    assert program.counts() == {"add": 1, "mul": 1}


def test_constants_are_folded():
    program = trace(lambda x: x * (2.0 * 3.0) + sqrt(16.0) * exp(0.0), "x")
    assert program.counts() == {"mul": 1, "add": 1}
    assert program(5.0) == (34.0,)


def test_small_powers_are_products():
    program = trace(lambda x: (x**2, x**5, x**-1, x**0.5, x ** np.int64(3)), "x")
    assert "pow" not in program.counts()
    np.testing.assert_allclose(program(2.0), (4.0, 32.0, 0.5, math.sqrt(2.0), 8.0), rtol=2e-16)


def test_numpy_scalars_are_numbers():
    program = trace(lambda x: (np.float64(2.0) * x, x - np.float64(1.0), np.float64(1.0) / x, np.float64(3.0) - x), "x")
    assert program(4.0) == (8.0, 3.0, 0.25, -1.0)


def test_the_shape_of_a_sum_does_not_depend_on_what_else_is_on_the_tape():
    def text(*more):
        tape = Tape()
        x, y, z = (tape.input(name) for name in "xyz")
        for extra in more:
            extra(x, y, z)
        value = (x * y) + (z * x) + (y * z)
        return tape.shapes[value.index]

    assert text() == text(lambda x, y, z: z * y + x, lambda x, y, z: y * x)


def test_slopes_of_selects_are_those_of_the_chosen_branch():
    def block(x, y):
        return (
            where(x, x * y, y),
            minimum(x, y),
            maximum(x, 2.0 * y),
            clip(x, -1.0, 1.0),
            magnitude(x) + sign(x) + floor(y),
        )

    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    table = differentiate([tape.lift(v) for v in block(x, y)], [x, y])
    program = Program(tape, ("x", "y"), tuple(tape.lift(s).index for row in table for s in row))
    assert program(0.5, 2.0) == (2.0, 0.5, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 0.0)
    assert program(-3.0, -5.0) == (0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0)


def test_a_block_may_return_nested_tuples_and_lists_and_loop_over_fixed_ranges():
    def block(x, p):
        total = 0.0
        for k, gain in enumerate(p):
            total = total + gain * x**k
        return [(total,), (x, [1.0, 2])]

    assert trace(block, "x", ("p0", "p1"))(2.0, 3.0, 4.0) == (11.0, 2.0, 1.0, 2.0)


FORBIDDEN = {
    "comparing": lambda x, y: 1.0 if x > y else 2.0,
    "equality": lambda x, y: x * (x == y),
    "branching": lambda x, y: x or y,
    "both": lambda x, y: x and y,
    "negation": lambda x, y: not x,
    "smaller": lambda x, y: min(x, y) + y,
    "sorting": lambda x, y: sorted([x, y]),
    "searching": lambda x, y: 1.0 if x in (1.0, 2.0) else y,
    "to float": lambda x, y: float(x) + y,
    "to int": lambda x, y: int(x) + y,
    "by math": lambda x, y: math.sin(x) * y,
    "by numpy": lambda x, y: np.sin(x) * y,
    "numpy comparison": lambda x, y: np.float64(1.0) > x,
    "by numpy function": lambda x, y: np.clip(x, 0.0, 1.0) * y,
    "to array": lambda x, y: np.array([x, y]),
    "with array": lambda x, y: x * np.array([1.0, 2.0]),
    "array with": lambda x, y: np.array([1.0, 2.0]) * x,
    "looping": lambda x, y: [y for _ in range(x)],
    "rounding": lambda x, y: round(x) + y,
    "floor division": lambda x, y: x // 2.0 + y,
    "remainder": lambda x, y: x % 2.0 + y,
    "unpacking": lambda x, y: (*x, y),
    "indexing": lambda x, y: x[0] + y,
    "with text": lambda x, y: x + "1",
    "with none": lambda x, y: x * None,
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_has_no_straight_line_form_is_refused_with_its_line(what):
    with pytest.raises(TracingError) as caught:
        trace(FORBIDDEN[what], "x", "y")
    message = str(caught.value)
    assert f"{Path(__file__)}:{FORBIDDEN[what].__code__.co_firstlineno} in <lambda>: " in message
    assert "; " in message  # the remedy follows


def test_mixing_two_tapes_is_refused():
    with pytest.raises(TracingError, match=rf"{Path(__file__).name}:\d+ in .*mixing two tapes"):
        Tape().input("x") + Tape().input("x")


@pytest.mark.parametrize("result", ["text", None, {"x": 1.0}, (1.0, "text"), np.zeros(2)])
def test_a_block_that_returns_something_else_is_refused_by_name(result):
    def speed(x):
        return result

    with pytest.raises(TracingError, match="speed must return a number or a tuple of numbers"):
        trace(speed, "x")


def test_a_traced_number_tells_what_it_is():
    x = Tape().input("x")
    assert isinstance(x, Traced)
    assert repr(x + 1.0) == "Traced(add #2)"
