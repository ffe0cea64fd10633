"""Small knowledge bases and teaching signals that the tests of this package share."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import Inference, KnowledgeBase, RuleBase, TeachingRows, Variable
from flcs.inference.rule_base import full_grid


def make_base(shape="triangular", order=0, seed=0, name="position", inputs=("e", "e_rate")):
    """A 3-term base on every input, with random consequents in the box [0, 10]^3."""
    rng = np.random.default_rng(seed)
    ranges = {"e": ((-2.0, 2.5), (-1.5, 0.25, 1.75)), "e_rate": ((-4.0, 4.0), (-3.0, -0.5, 4.0))}
    ranges |= {"z": ((-1.0, 1.0), (-1.0, 0.0, 1.0)), "speed": ((0.0, 8.0), (1.0, 3.0, 6.0))}
    variables = tuple(Variable(n, "", *ranges[n][0], ranges[n][1], shape=shape) for n in inputs)
    rules = []
    for rule in full_grid([3] * len(inputs), (5.0, 5.0, 5.0), order):
        slopes = tuple(map(tuple, rng.uniform(-2.0, 2.0, (3, len(inputs))))) if order else ()
        rules.append(replace(rule, gains=tuple(rng.uniform(0.0, 10.0, 3)), slopes=slopes))
    return RuleBase(name, variables, tuple(rules), (0.0,) * 3, (10.0,) * 3, (3.62, 0.59, 3.17))


def make_kb(shape="triangular", order=0, seed=0, inputs=("e", "e_rate"), **settings):
    how = {key: settings.pop(key) for key in ("t_norm", "fallback", "fade", "authority") if key in settings}
    base = make_base(shape, order, seed, inputs=inputs)
    return KnowledgeBase("van_der_pol", (base,), Inference(order=order, **how), **settings)


def make_rows(kb, n=400, seed=3, noise=0.0, n_situations=5, spread=1.0):
    """Rows all over the taught ranges, labelled by the knowledge base itself."""
    rng = np.random.default_rng(seed)
    variables = {name: v for base in kb.channels for name, v in zip(base.input_names, base.inputs, strict=True)}
    columns = [variables[name.rstrip("_123456789")] for name in kb.input_names]
    middle = np.array([0.5 * (v.low + v.high) for v in columns])
    half = np.array([0.5 * (v.high - v.low) for v in columns])
    inputs = middle + spread * half * rng.uniform(-1.0, 1.0, (n, len(columns)))
    gains = kb.gains(inputs) + noise * rng.standard_normal((n, len(kb.gain_names)))
    situation = np.arange(n) * n_situations // n
    return TeachingRows(inputs, gains, np.ones(n), situation, kb.input_names, kb.gain_names)


@pytest.fixture
def kb():
    return make_kb(tick=0.02)


@pytest.fixture
def several():
    """Two channels: one with error and error rate, one with the error integral and a shared plant output."""
    first, second = make_base(inputs=("e", "speed"), name="left"), make_base(inputs=("e", "z", "speed"), name="right")
    return KnowledgeBase("cart", (first, replace(second, integral_limit=0.5)), tick=0.02, slew=2.0)


@pytest.fixture
def builders():
    """The functions above, for tests that need other bases than the usual ones."""
    return {"base": make_base, "kb": make_kb, "rows": make_rows}
