"""Control systems of scikit-fuzzy: what the package computes with them, and the way back."""

from dataclasses import replace

import numpy as np
import pytest

from flcs.exchange import ExchangeError, skfuzzy, system_of

pytest.importorskip("skfuzzy", reason="scikit-fuzzy is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")  # in the package


def computed(found, names, rows, gains=("kp", "ki", "kd")):
    from skfuzzy import control

    taken = []
    for row in rows:
        simulation = control.ControlSystemSimulation(found, cache=False)
        for name, value in zip(names, row, strict=True):
            simulation.input[name] = value
        simulation.compute()
        taken.append([simulation.output[gain] for gain in gains])
    return np.array(taken)


@pytest.mark.parametrize(("shape", "t_norm", "bound"), [
    # Sides are 1e-5 of a set's width: weights differ by that share at most. Curves are sampled at 501 places over the
    # range: between them a Gaussian's chord is h^2 / (8 sigma^2) = 1e-5 low for sigma = 0.6 and h = 0.009.
    ("triangular", "product", 1e-4), ("triangular", "minimum", 1e-4), ("gaussian", "product", 1e-3),
])  # fmt: skip
def test_the_package_computes_the_gains(builders, shape, t_norm, bound):
    kb = builders["kb"](shape, t_norm=t_norm, fallback=1e-6)
    rows = np.random.default_rng(4).uniform((-2.0, -4.0), (2.5, 4.0), (12, 2))
    found = skfuzzy.built(skfuzzy.data_of(system_of(kb)))
    np.testing.assert_allclose(computed(found, ("e", "e_rate"), rows), kb.gains(rows), rtol=0.0, atol=bound)


def test_rules_of_equal_and_of_close_gains_count_each(builders):
    kb = builders["kb"](fallback=1e-6)
    base = kb.channels[0]
    near = (2.0, 2.0, 2.0001, 8.0, 8.0, 2.0, 8.00005, 2.0, 5.0)
    rules = tuple(replace(rule, gains=(g, 10.0 - g, g)) for rule, g in zip(base.rules, near, strict=True))
    kb = kb.with_channel(0, replace(base, rules=rules))
    rows = np.random.default_rng(5).uniform((-2.0, -4.0), (2.5, 4.0), (8, 2))
    found = computed(skfuzzy.built(skfuzzy.data_of(system_of(kb))), ("e", "e_rate"), rows)
    np.testing.assert_allclose(found, kb.gains(rows), rtol=0.0, atol=1e-6)  # sets overlap nowhere: sides alone


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("shape", ["triangular", "trapezoid"])
def test_the_way_back_is_exact(builders, shape, t_norm):
    kb = builders["kb"](shape, t_norm=t_norm)
    kb = kb.with_channel(0, kb.channels[0].switched([k % 2 == 0 for k in range(9)]))
    system = system_of(kb)
    found = skfuzzy.of_control_system(skfuzzy.built(skfuzzy.data_of(system)), system.name)
    bare = replace(system, outputs=tuple(replace(o, low=None, high=None, default=None) for o in system.outputs))
    assert found == bare  # all that such a system holds; ranges and defaults of outputs it does not


def test_systems_that_no_knowledge_base_can_hold_are_refused(builders):
    from skfuzzy import control, trimf

    with pytest.raises(ExchangeError, match="linear in the inputs"):
        skfuzzy.built(skfuzzy.data_of(system_of(builders["kb"](order=1))))
    x = control.Antecedent(np.linspace(-1.0, 1.0, 21), "e")
    y = control.Consequent(np.linspace(0.0, 1.0, 21), "kp")
    x["low"], x["high"] = trimf(x.universe, [-1, -1, 1]), trimf(x.universe, [-1, 1, 1])
    y["small"], y["big"] = trimf(y.universe, [0, 0, 1]), trimf(y.universe, [0, 1, 1])
    overlap = control.ControlSystem([control.Rule(x["low"], y["big"])])
    with pytest.raises(ExchangeError, match="do not overlap"):
        skfuzzy.of_control_system(overlap)
    either = control.ControlSystem([control.Rule(x["low"] | x["high"], y["big"])])
    with pytest.raises(ExchangeError, match="joined by & alone, got 'or'"):
        skfuzzy.of_control_system(either)
