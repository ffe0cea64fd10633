"""Conditions of selects, printed as comparisons: the same truth, for every kind of number."""

import itertools
import math

import numpy as np
import pytest

from plants.core.elementary import abs as magnitude
from plants.core.elementary import minimum, where
from plants.core.printers.python import Printed
from plants.core.tracing.tape import Tape, Traced

NUMBERS = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan, 2.0, 1.0 + 2.0**-52]
CONDITIONS = {
    "difference": lambda a, b: a - b,
    "limits": lambda a, b: where(2.0 - magnitude(a), 1.0, 0.0) * where(b - 1.0, 1.0, 0.0),
    "nested": lambda a, b: where(a - b, where(b, 1.0, 0.0), 0.0),
    "value where true": lambda a, b: where(a, b, -1.0),
    "indicator times number": lambda a, b: where(a - 1.0, 1.0, 0.0) * b,
    "number times indicator": lambda a, b: b * where(a, 1.0, 0.0),
    "fused difference": lambda a, b: a * b - a,
    "not an indicator": lambda a, b: where(a, 2.0, 0.5) * b,
    "other way round": lambda a, b: where(a, 0.0, 1.0),
    "smaller": minimum,
    "kept limits": lambda a, b: _kept(where(2.0 - magnitude(a), 1.0, 0.0) * where(b - 1.0, 1.0, 0.0)),
    "kept difference": lambda a, b: _kept(a - b),
}


def _kept(number):
    return number.tape.keep(number) if isinstance(number, Traced) else number


def printed(condition):
    """Text of a select on the condition, and its value at (a, b) as the tape's own operations give it."""
    tape = Tape()
    a, b = tape.input("a"), tape.input("b")
    chosen = where(condition(a, b), 3.0, 4.0)
    code = Printed(tape, [chosen.index], {a.index: "a", b.index: "b"})
    return "\n".join([*code.lines, f"chosen = {code.value(chosen.index)}"])


def fused(a, b, c):
    """a * b + c, rounded once where that matters for its sign: products here are exact in extended precision."""
    with np.errstate(all="ignore"):
        return float(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_printed_condition_is_true_where_the_number_is_above_0(name):
    text = printed(CONDITIONS[name])
    for a, b in itertools.product(NUMBERS, repeat=2):
        namespace = {"a": a, "b": b, "np": np, "fma": fused}
        exec(text, namespace)
        assert namespace["chosen"] == where(CONDITIONS[name](a, b), 3.0, 4.0), (text, a, b)


def test_limits_cost_comparisons_only():
    text = printed(CONDITIONS["limits"])
    assert "2.0 > " in text
    assert "b > 1.0" in text
    assert "-" not in text
    assert "*" not in text


def test_a_condition_read_twice_is_named_once():
    tape = Tape()
    a, b = tape.input("a"), tape.input("b")
    inside = where(a * 1.0, 1.0, 0.0) * where(b, 1.0, 0.0)
    outputs = [where(inside, a, b).index, where(where(inside, 1.0, 0.0), b, 2.0).index]
    code = Printed(tape, outputs, {a.index: "a", b.index: "b"})
    assert sum("&" in line for line in code.lines) == 1
