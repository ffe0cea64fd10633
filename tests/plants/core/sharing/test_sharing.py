"""Common parts of whole programs: known smallest counts, the same values, never more operations, one result."""

import hashlib
import math
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plants.core.elementary import cos, maximum, minimum, quotient, sin, where
from plants.core.sharing import sharing
from plants.core.sharing.conversion import read, write
from plants.core.sharing.forms import SUM
from plants.core.sharing.sharing import factor, operations, share_pairs, shared
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, trace
from tests.reference import expressions, random_programs
from tests.reference.rounding import spread

NUMBER = st.floats(-3.0, 3.0)
GENERATOR = st.randoms(use_true_random=False)

# The smallest count by hand.
PLANTED = {
    "common sum": (lambda a, b, c, d: (a + b + c, a + c + d), 3),
    "common product": (lambda a, b, c, d: (a * b * c, a * c * d), 3),
    "common difference": (lambda a, b, c, d: (a + b - c, d + c - a), 3),
    "difference and its negative": (lambda a, b, c, d: (-(a - b), b - a), 1),
    "negative of a sum": (lambda a, b, c, d: (c - (a - b), (b - a) * d), 3),
    "negated factors": (lambda a, b, c, d: (-a * -b, a * b), 1),
    "negation into a difference": (lambda a, b, c, d: (c + -(a * b),), 2),
    "negation into a factor": (lambda a, b, c, d: (-(a - b) * c,), 2),
    "negated square": (lambda a, b, c, d: (-(a - b), (a - b) * (b - a) * c), 4),
    "even power of a negated sum": (lambda a, b, c, d: (-(a - b), (a - b) * (a - b)), 2),
    "odd and even functions": (lambda a, b, c, d: (sin(a - b), c - sin(b - a), cos(a - b) * cos(b - a)), 5),
    "factor": (lambda a, b, c, d: (a * b + a * c,), 2),
    "factor with a sign": (lambda a, b, c, d: (a * b - d - a * c,), 3),
    "two factors": (lambda a, b, c, d: (a * c + a * d + b * c + b * d,), 3),
    "constant factor": (lambda a, b, c, d: (2.0 * a + 2.0 * b - c * 2.0,), 3),
    "constants meet": (lambda a, b, c, d: (2.0 * (a * (3.0 * b)) / 4.0,), 2),
    "like terms": (lambda a, b, c, d: (2.0 * a * b + c - b * (a * 0.5),), 3),
    "terms that cancel": (lambda a, b, c, d: (a * b + c - b * a,), 0),
    "powers": (lambda a, b, c, d: (a**2, a**3, a * a * a * a * a), 3),
    "power of a product": (lambda a, b, c, d: (a * a * b * b,), 2),
    "common denominator": (lambda a, b, c, d: (a / d + b / d - c / d,), 3),
    "common divisors": (lambda a, b, c, d: (a / c / d, b / d / c), 3),
    "common quotient": (lambda a, b, c, d: (a * b / c, d * b / c), 3),
    "divisors of one product": (lambda a, b, c, d: (c * d, a / c / d), 2),
    "sums in products in sums": (lambda a, b, c, d: ((a + b + c) * d + 1.0, (c + a) * d * (c - (-a))), 6),
    "used whole and in part": (lambda a, b, c, d: (a + b, (a + b) + c, (b + c) + a), 2),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_common_parts_are_found(name):
    block, smallest = PLANTED[name]
    program = trace(block, *"abcd")
    ours = shared(program)
    assert operations(ours) == smallest < operations(program)
    point = (0.7, 1.3, -0.4, 2.1)
    np.testing.assert_allclose(ours(*point), program(*point), rtol=1e-14)  # no number here is lost by cancelling


def close(ours, program, points):
    """Both programs are off by what their own rounding explains, and no more; return whether that could be judged.

    `spread` moves each operation by 4 ulp in 8 trials, where it is right to half of one: 8 times the sum is far
    outside. Where it is infinite (numbers above 1e5 on the way, or none) there is no yardstick.
    """
    tolerance = spread(program, points) + spread(ours, points)
    known = np.isfinite(tolerance).all(axis=0)
    for point, bound in zip(np.transpose(points)[known], tolerance.T[known], strict=True):
        assert (np.abs(np.subtract(ours(*point), program(*point))) <= 8.0 * bound + 1e-15).all()
    return known.any()


def agree(program, points):
    """The shared program has no more operations, and the values of the given one."""
    ours = shared(program)
    assert operations(ours) <= operations(program)
    assert ours.inputs == program.inputs
    return close(ours, program, points)


POINTS = list(np.random.default_rng(3).uniform(0.5, 2.0, (4, 6)))


@given(GENERATOR, st.integers(4, 60))
def test_random_programs_keep_their_values(rng, length):
    points = np.random.default_rng(3).uniform(-2.0, 2.0, (4, 6))
    assume(agree(random_programs.grow(rng, length), list(points)))


@given(GENERATOR, st.tuples(NUMBER, NUMBER, NUMBER))
def test_every_elementary_function_keeps_its_value(rng, point):
    trees = [expressions.grow(rng, 4) for _ in range(3)]
    assume(agree(trace(expressions.block(*trees), *"abc"), [np.full(1, value) for value in point]))


def polynomials(seed, length=8):
    """Sums of products of few numbers, some used again: the densest with common parts."""
    rng, tape = random.Random(seed), Tape()
    numbers = [tape.input(name) for name in random_programs.NAMES]
    factors = [*numbers, *(rng.choice(numbers) - rng.choice(numbers) * 0.5 for _ in range(2))]
    sums = []
    for _ in range(length):
        total = rng.choice(factors) * rng.choice((1.0, -1.0))
        for _ in range(rng.randint(1, length)):
            term = rng.choice(factors)
            for _ in range(rng.randint(0, 4)):
                term = term / rng.choice(factors) if rng.random() < 0.15 else term * rng.choice(factors)
            total = total + term if rng.random() < 0.5 else total - term
        sums.append(total)
        factors += [total] if rng.random() < 0.3 else []
    return Program(tape, random_programs.NAMES, tuple(tape.lift(total).index for total in sums))


def dense(seed):
    return random_programs.grow(random.Random(seed), 80, 20)


@pytest.mark.parametrize("copied", [0, 12])
@pytest.mark.parametrize("grow", [polynomials, dense])
def test_pairs_are_taken_out_by_true_counts_until_none_is_left(grow, copied, monkeypatch):
    """The counts are kept while entries change; here they are taken afresh, before each step and at the end."""
    take_out = sharing._Pairs._take_out

    def checked(self, pair):
        afresh = Counter()
        for entry, items in self.items.items():
            afresh.update(pairs_of({item: self.forms.bags[entry][item] for item in items}, self.forms.kinds[entry]))
        assert +afresh == +Counter(self.counts)
        assert self.counts[pair] == max(afresh.values())
        take_out(self, pair)

    monkeypatch.setattr(sharing._Pairs, "_take_out", checked)
    judged = 0
    for seed in range(12):
        program = grow(seed)
        forms, outputs = read(program, copied)
        wanted = [entry for _, entry in outputs]
        share_pairs(forms, forms.order(wanted))
        left = Counter()
        for entry in forms.order(wanted):
            pairs = pairs_of(forms.bags.get(entry, {}), forms.kinds[entry])
            left.update({(forms.kinds[entry], pair): count for pair, count in pairs.items()})
        assert max(left.values(), default=0) < 2
        judged += close(write(forms, outputs, program.inputs), program, POINTS)
    assert judged > 6


def pairs_of(bag, kind):
    """Return how often each pair fits into one sum or product."""
    if kind == SUM:
        ones = [item for item in sorted(bag) if abs(bag[item]) == 1]
        return Counter((one, other, bag[one] * bag[other]) for one, other in combinations(ones, 2))
    pairs = {(one, other, 1): min(abs(bag[one]), abs(bag[other])) for one, other in combinations(sorted(bag), 2)}
    return Counter({**pairs, **{(item, item, 1): abs(e) // 2 for item, e in bag.items()}})


@pytest.mark.parametrize("copied", [0, 12])
def test_taking_out_factors_costs_nothing(copied):
    saved = 0
    for seed in range(30):
        program = polynomials(seed)
        forms, outputs = read(program, copied)
        share_pairs(forms, forms.order(entry for _, entry in outputs))
        before = operations(write(forms, outputs, program.inputs))
        factor(forms, outputs)
        ours = write(forms, outputs, program.inputs)
        assert operations(ours) <= before
        close(ours, program, POINTS)
        saved += before - operations(ours)
    assert saved > 30


def test_no_factor_is_taken_out_that_leaves_only_divisors():
    """a / c + a / d has three operations, a (1 / c + 1 / d) four."""
    program = trace(lambda a, c, d: (a / c + a / d,), *"acd")
    forms, outputs = read(program, 0)
    factor(forms, outputs)
    assert operations(write(forms, outputs, program.inputs)) == 3


def test_what_is_kept_is_not_looked_through():
    def block(a, b, c, d):
        rounded = a.tape.keep(a + b)
        return rounded - a, (a + b) + c - a, rounded + c, (b + a) - d

    program = trace(block, *"abcd")
    ours = shared(program)
    assert ours.counts()["keep"] == 1
    lost, whole, *_ = ours(1e16, 1.0, 0.25, 0.0)
    assert lost == 0.0  # 1e16 + 1 is rounded to 1e16 before 1e16 is taken from it
    assert whole == 1.25  # here nothing was kept: a and -a cancel


def test_selects_and_limits_stay():
    def block(a, b, c, d):
        return where(a - b, a + c + d, a + b + d), minimum(a + d, b - a), maximum(a - b, d + a)

    program = trace(block, *"abcd")
    ours = shared(program)
    assert {k: ours.counts()[k] for k in ("where", "minimum", "maximum")} == {"where": 1, "minimum": 1, "maximum": 1}
    assert operations(ours) < operations(program)
    for point in np.random.default_rng(2).uniform(-1.0, 1.0, (20, 4)):
        np.testing.assert_allclose(ours(*point), program(*point), rtol=1e-15, atol=1e-15)


def test_nothing_is_kept_of_what_is_an_input_in_the_end():
    ours = shared(trace(lambda a, b: (a.tape.keep(a + b - b) * b,), "a", "b"))
    assert ours.counts() == {"mul": 1}


def test_products_are_added_to_what_is_none():
    """So that all of them can be fused with their sum: each addition here has one product."""
    ours = shared(trace(lambda a, b, c, d: (a * b + c * d + sin(d), a + b - c, c - b - a), *"abcd"))
    tape = ours.tape
    kinds = [[tape.operations[a] for a in tape.arguments[n]] for n in tape.needed(ours.outputs)]
    assert max(kind.count("mul") for kind in kinds) == 1


def test_quotients_stay_quotients_and_divisions_divisions():
    def block(a, b, c, d):
        return quotient(quotient(a, b), c) + quotient(quotient(d, c), b), a / d + b / d

    ours = shared(trace(block, *"abcd"))
    assert ours.counts() == {"add": 2, "mul": 1, "quotient": 1, "div": 1}


def test_a_program_without_common_parts_is_returned_as_it_is():
    for block in (lambda a, b: a + b, lambda a, b: (a, 3.0, a, b), lambda a, b: sin(a) / b - 1.0):
        program = trace(block, "a", "b")
        assert shared(program) is program


def test_numbers_at_the_edge_stay():
    def block(a, b):
        return a / 0.0, (a + b - a) / math.inf, b * math.nan + a * math.nan, -0.0 / b, a - 0.0 - (a - b)

    program = trace(block, "a", "b")
    ours = shared(program)
    assert operations(ours) < operations(program)
    np.testing.assert_array_equal(ours(2.0, 3.0), (math.inf, 0.0, math.nan, -0.0, 3.0))


def text(program):
    tape = program.tape
    nodes = tape.needed(program.outputs)
    return [(tape.operations[n], tape.arguments[n], tape.constants.get(n), tape.input_names.get(n)) for n in nodes]


def test_what_else_is_on_the_tape_does_not_matter():
    def program(*more):
        tape = Tape()
        a, b, c, d = (tape.input(name) for name in "abcd")
        for extra in more:
            extra(a, b, c, d)
        outputs = (d * b * a + c * a * d - (a + b), a + c + b, d - (b + a))
        return Program(tape, tuple("abcd"), tuple(output.index for output in outputs))

    alone, beside = program(), program(lambda a, b, c, d: c * d + b, lambda a, b, c, d: b * a - d)
    assert text(shared(alone)) == text(shared(beside))
    assert operations(shared(alone)) < operations(alone)


def digests():
    """Texts of some shared programs, as one number."""
    rng = random.Random(11)
    texts = [text(shared(random_programs.grow(rng, 60))) for _ in range(12)]
    return hashlib.sha256(repr(texts).encode()).hexdigest()


def test_the_same_for_any_seed_of_hashes():
    command = [sys.executable, "-c", "from tests.plants.core.sharing.test_sharing import digests; print(digests())"]
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == digests()


@pytest.mark.parametrize(
    ("term", "count"),
    [
        (lambda x, k: x[k], 399),
        (lambda x, k: x[k] * x[(k + 1) % len(x)], 599),  # 399 sums and 399 products; two each share a factor, 199 times
    ],
)
def test_long_sums(term, count):
    """Longer than what is looked at in pairs at once, deeper than Python's stack; two of them share all they have."""

    def block(*x):
        up, down = x[0], 0.0
        for k in range(1, 400):
            up, down = up + term(x, k), down - term(x, k)
        return up, (down - x[0]) * x[1], up * x[2]

    program = trace(block, *(f"x{k}" for k in range(400)))
    ours = shared(program)
    point = np.random.default_rng(4).uniform(0.5, 1.0, 400)
    np.testing.assert_allclose(ours(*point), program(*point), rtol=1e-13)  # 400 positive terms, 1e-16 each
    assert operations(ours) == count + 3  # two products and a negation


def test_a_deep_program_is_no_matter():
    def block(x, y):
        for _ in range(3000):
            x = y - (x - 1.0) * y
        return x * 2.0, x * 2.0 + y

    program = trace(block, "x", "y")
    ours = shared(program)
    np.testing.assert_allclose(ours(0.5, 0.25), program(0.5, 0.25), rtol=1e-13)  # each step forgets three quarters
