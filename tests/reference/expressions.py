"""Random expressions over every elementary function, as blocks of three numbers."""

from plants.core import elementary as el

# Arguments are led into each function's domain, smoothly: random expressions are finite and have slopes everywhere.
UNARY = {
    "neg": lambda x: -x,
    "sin": el.sin,
    "cos": el.cos,
    "tan": lambda x: el.tan(1.3 * el.tanh(x)),
    "asin": lambda x: el.asin(0.95 * el.tanh(x)),
    "acos": lambda x: el.acos(0.95 * el.tanh(x)),
    "exp": lambda x: el.exp(3.0 * el.sin(x)),
    "log": lambda x: el.log(x * x + 0.1),
    "sqrt": lambda x: el.sqrt(x * x + 0.01),
    "tanh": el.tanh,
    "abs": el.abs,
    "sign": el.sign,
    "floor": el.floor,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "inverse": lambda x: (x * x + 0.5) ** -1,
    "root": lambda x: (x * x + 0.1) ** 0.5,
    "half": lambda x: (x * x + 0.1) ** 1.5,
    "table1d": lambda x: el.table1d(x, (-1.0, 0.0, 2.0), (0.5, -1.0, 3.0)),
    "shifted": lambda x: 1.0 - x,
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (y * y + 0.5),
    "atan2": el.atan2,
    "pow": lambda x, y: el.pow(x * x + 0.1, 2.0 * el.sin(y)),
    "minimum": el.minimum,
    "maximum": el.maximum,
    "table2d": lambda x, y: el.table2d(x, y, (-1.0, 1.0), (0.0, 1.0, 2.0), ((0.0, 1.0, 4.0), (2.0, x, 1.0))),
}
TERNARY = {
    "where": el.where,
    "clip": lambda x, y, z: el.clip(x, el.minimum(y, z), el.maximum(y, z)),
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
