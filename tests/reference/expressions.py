"""Random expressions over every elementary function, as blocks of three numbers."""

from __future__ import annotations

from plants.core.elementary import (
    abs as magnitude,
)
from plants.core.elementary import (
    acos,
    asin,
    atan2,
    clip,
    cos,
    exp,
    floor,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    table1d,
    table2d,
    tan,
    tanh,
    where,
)
from plants.core.elementary import (
    pow as power,
)

# Arguments are led into each function's domain, smoothly: random expressions are finite and have slopes everywhere.
UNARY = {
    "neg": lambda x: -x,
    "sin": sin,
    "cos": cos,
    "tan": lambda x: tan(1.3 * tanh(x)),
    "asin": lambda x: asin(0.95 * tanh(x)),
    "acos": lambda x: acos(0.95 * tanh(x)),
    "exp": lambda x: exp(3.0 * sin(x)),
    "log": lambda x: log(x * x + 0.1),
    "sqrt": lambda x: sqrt(x * x + 0.01),
    "tanh": tanh,
    "abs": magnitude,
    "sign": sign,
    "floor": floor,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "inverse": lambda x: (x * x + 0.5) ** -1,
    "root": lambda x: (x * x + 0.1) ** 0.5,
    "half": lambda x: (x * x + 0.1) ** 1.5,
    "table1d": lambda x: table1d(x, (-1.0, 0.0, 2.0), (0.5, -1.0, 3.0)),
    "shifted": lambda x: 1.0 - x,
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (y * y + 0.5),
    "atan2": atan2,
    "pow": lambda x, y: power(x * x + 0.1, 2.0 * sin(y)),
    "minimum": minimum,
    "maximum": maximum,
    "table2d": lambda x, y: table2d(x, y, (-1.0, 1.0), (0.0, 1.0, 2.0), ((0.0, 1.0, 4.0), (2.0, x, 1.0))),
}
TERNARY = {
    "where": where,
    "clip": lambda x, y, z: clip(x, minimum(y, z), maximum(y, z)),
    "sum": lambda x, y, z: x * y + z,
    "difference": lambda x, y, z: x * y - z,
    "rest": lambda x, y, z: z - x * y,
}
FUNCTIONS = {**UNARY, **BINARY, **TERNARY}
ALL = tuple(sorted(FUNCTIONS))
_KINKED = {"atan2", "sign", "floor", "where", "clip", "minimum", "maximum", "abs", "table1d", "table2d"}
SMOOTH = tuple(name for name in ALL if name not in _KINKED)
LEAVES = ("a", "b", "c", 0.5, -1.0, 2.0, 3.25, 0.0, 1.0)


def grow(rng, depth, names=ALL):
    """Return a random expression as nested tuples; `rng` is a `random.Random`."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(LEAVES)
    name = rng.choice(names)
    count = 1 if name in UNARY else 2 if name in BINARY else 3
    return (name, *(grow(rng, depth - 1, names) for _ in range(count)))


def block(*trees):
    """Return the block of three numbers that gives the value of each tree."""

    def expressions(a, b, c):
        return tuple(evaluate(tree, {"a": a, "b": b, "c": c}) for tree in trees)

    return expressions


def evaluate(tree, given):
    """Return the value of a tree for numbers of any kind."""
    if isinstance(tree, tuple):
        return FUNCTIONS[tree[0]](*(evaluate(part, given) for part in tree[1:]))
    return given[tree] if isinstance(tree, str) else tree
