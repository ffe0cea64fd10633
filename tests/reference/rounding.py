"""How far rounding can move the result of a straight-line program: the yardstick for comparing two evaluations of it.

Every operation's result is moved by a random relative amount; the largest movement of the outputs over some trials
estimates the effect of that much error in each operation, condition of the expression included.
"""

import numpy as np

from plants.core import replay

_EXACT = {"input", "const", "neg", "abs", "sign", "floor", "minimum", "maximum", "where", "keep"}


def moved(program, arrays, rng, ulps):
    """Outputs [n_out, n_points] with each operation off by up to `ulps`; and whether all numbers stayed moderate."""
    given = dict(zip(program.inputs, arrays, strict=True))
    tape, results = program.tape, {}
    usable = np.ones(np.shape(arrays[0]), bool)
    for node in tape.needed(program.outputs):
        name = tape.operations[node]
        if name == "input":
            value = given[tape.input_names[node]]
        elif name == "const":
            value = tape.constants[node]
        else:
            value = replay._OPERATIONS[name](*(results[a] for a in tape.arguments[node]))
        if name not in _EXACT:
            value = value * (1.0 + ulps * 2.2e-16 * rng.uniform(-1.0, 1.0, usable.shape))
        usable &= np.isfinite(value) & (np.abs(value) < 1e5)
        results[node] = value
    return np.array([np.broadcast_to(results[node], usable.shape) for node in program.outputs]), usable


def spread(program, arrays, ulps=4.0, trials=8):
    """Largest movement [n_out, n_points] of the outputs over the trials; infinite where numbers are not moderate."""
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        exact, usable = moved(program, arrays, rng, 0.0)
        result = np.zeros_like(exact)
        for _ in range(trials):
            other, fine = moved(program, arrays, rng, ulps)
            usable &= fine
            result = np.maximum(result, np.abs(other - exact))
    return np.where(usable, result, np.inf)
