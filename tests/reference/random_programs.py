"""Random programs whose numbers are used again and again: sums and products with much in common."""

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


def grow(rng, length, outputs=3, without=()):
    """Return a program of `length` random steps, each on numbers drawn from all before; `rng` is a `random.Random`.

    `without` names kinds of steps to leave out.
    """
    tape = Tape()
    numbers = [tape.input(name) for name in NAMES]
    kinds = [name for name, (weight, _, _) in _STEPS.items() for _ in range(weight) if name not in without]
    for _ in range(length):
        _, count, step = _STEPS[rng.choice(kinds)]
        numbers.append(tape.lift(step(*(rng.choice(numbers) for _ in range(count)))))
    return Program(tape, NAMES, tuple(number.index for number in numbers[-outputs:]))
