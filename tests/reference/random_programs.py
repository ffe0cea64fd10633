"""Random programs whose numbers are used again and again: sums and products with much in common."""

from plants.core import elementary as el
from plants.core.elementary import cos, maximum, minimum, quotient, sin, tanh, where
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program

NAMES = tuple("abcd")
_STEPS = {
    "add": (6, 2, lambda x, y: x + y),
    "sub": (5, 2, lambda x, y: x - y),
    "mul": (7, 2, lambda x, y: x * y),
    "neg": (2, 1, lambda x: -x),
    "scaled": (2, 1, lambda x: 2.0 * x),
    "opposed": (1, 1, lambda x: x * -0.5),
    "shifted": (1, 1, lambda x: x + 1.0),
    "square": (1, 1, lambda x: x * x),
    "cube": (1, 1, lambda x: x**3),
    "div": (2, 2, lambda x, y: x / y),
    "quotient": (2, 2, quotient),
    "inverse": (1, 1, lambda x: 3.0 / x),
    "keep": (1, 1, lambda x: x.tape.keep(x)),
    "sin": (1, 1, sin),
    "cos": (1, 1, cos),
    "tanh": (1, 1, tanh),
    "minimum": (1, 2, minimum),
    "maximum": (1, 2, maximum),
    "where": (1, 3, where),
}
EVERY = _STEPS | {
    "tan": (1, 1, el.tan),
    "asin": (1, 1, el.asin),
    "acos": (1, 1, el.acos),
    "atan2": (1, 2, el.atan2),
    "exp": (1, 1, el.exp),
    "log": (1, 1, el.log),
    "sqrt": (1, 1, el.sqrt),
    "pow": (1, 2, el.pow),
    "abs": (1, 1, el.abs),
    "sign": (1, 1, el.sign),
    "floor": (1, 1, el.floor),
    "above": (2, 2, lambda x, y: where(x - y, 1.0, 0.0)),
    "within": (3, 3, lambda x, y, z: where(x - y, 1.0, 0.0) * where(z - x, 1.0, 0.0)),
    "chosen where a difference is kept": (1, 3, lambda x, y, z: where(x.tape.keep(x - y), y, z)),
    "chosen within": (
        2, 3, lambda x, y, z: where(x.tape.keep(where(x - y, 1.0, 0.0) * where(z, 1.0, 0.0)), y, z * 0.5)
    ),
    "table1d": (1, 3, lambda x, y, z: el.table1d(x, (-1.0, 0.5, 2.0), (y, 0.25, z))),
}  # fmt: skip
"""Every elementary operation, and the truth values that selects are printed without."""


def grow(rng, length, outputs=3, without=()):
    """Return a program of `length` random steps, each on numbers drawn from all before; `rng` is a `random.Random`.

    `without` names kinds of steps to leave out.
    """
    tape = Tape()
    kinds = {name: kind for name, kind in _STEPS.items() if name not in without}
    numbers = grown([tape.input(name) for name in NAMES], rng, length, kinds)
    return Program(tape, NAMES, tuple(number.index for number in numbers[-outputs:]))


def grown(numbers, rng, length, kinds=None):
    """Return the numbers followed by those of `length` random steps of these kinds (left out: every one)."""
    kinds, numbers = EVERY if kinds is None else kinds, list(numbers)
    names = [name for name, (weight, _, _) in kinds.items() for _ in range(weight)]
    for _ in range(length):
        _, count, step = kinds[rng.choice(names)]
        numbers.append(numbers[0].tape.lift(step(*(rng.choice(numbers) for _ in range(count)))))
    return numbers
