"""From inputs to gains: against a plain twin, scikit-fuzzy's Mamdani machine, and what must hold by construction."""

from dataclasses import replace

import numpy as np
import pytest
import skfuzzy
from hypothesis import given
from hypothesis import strategies as st

from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.inference import infer, own_numbers
from flcs.inference.rule_base import Rule, full_grid
from plants.core.tracing.trace import names, trace

# Gains up to 10 from sums of at most 27 products, plus one division: rounding stays below 1e-13.
EXACT = 1e-12

SHAPES = ("triangular", "trapezoid", "gaussian", "bell")


def naive_gains(kb, point):
    """Loops over rules and inputs, written from the formulas, with nothing of the package but its data."""
    base, how = kb.channels[0], kb.inference
    inside = [min(max(x, v.low), v.high) for x, v in zip(point, base.inputs, strict=True)]
    distance = sum(abs(x - y) / (v.high - v.low) for x, y, v in zip(point, inside, base.inputs, strict=True))
    kappa = max(0.0, 1.0 - distance / how.fade)
    total, sums = 0.0, np.zeros(len(base.gain_names))
    for rule in base.rules:
        if not rule.on:
            continue
        grades = [naive_grade(v, j, x) for v, j, x in zip(base.inputs, rule.terms, inside, strict=True)]
        strength = min(grades) if how.t_norm == "minimum" else np.prod(grades)
        said = np.array(rule.gains)
        if how.order:
            place = [
                (x - (v.low + v.high) / 2) / ((v.high - v.low) / 2) for x, v in zip(inside, base.inputs, strict=True)
            ]
            said = said + np.array(rule.slopes) @ place
        total += strength
        sums += strength * said
    share = min(1.0, total / how.fallback) * kappa * how.authority
    mean = sums / total if total > 0.0 else np.zeros_like(sums)
    return np.clip(share * mean + (1.0 - share) * np.array(base.reference), base.low, base.high)


def naive_grade(variable, j, x):
    c, shape = variable.centres, variable.shape
    if shape.name == "gaussian":
        return np.exp(-((x - c[j]) ** 2) / (2.0 * variable.widths[j] ** 2))
    if shape.name == "bell":
        return 1.0 / (1.0 + abs((x - c[j]) / variable.widths[j]) ** (2 * shape.slope))
    flat = shape.plateau if shape.name == "trapezoid" else 0.0
    knots = [(c[j], 1.0)]
    if j > 0:
        gap = c[j] - c[j - 1]
        knots = [(c[j - 1] + flat * gap, 0.0), (c[j] - flat * gap, 1.0), *knots]
    if j < len(c) - 1:
        gap = c[j + 1] - c[j]
        knots += [(c[j] + flat * gap, 1.0), (c[j + 1] - flat * gap, 0.0)]
    return np.interp(x, *zip(*knots, strict=True))


def points(kb, n=200, seed=1, spread=1.6):
    rng = np.random.default_rng(seed)
    return rng.uniform(-4.0 * spread, 4.0 * spread, (n, len(kb.input_names)))


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_gains_are_those_of_the_plain_twin(builders, shape, order, t_norm):
    kb = builders["kb"](shape, order, t_norm=t_norm, authority=0.9, fade=0.7)
    kb = kb.with_channel(0, kb.channels[0].switched([k % 4 > 0 for k in range(9)]))
    x = points(kb)
    np.testing.assert_allclose(kb.gains(x), [naive_gains(kb, point) for point in x], atol=EXACT)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_block_on_floats_arrays_and_tape(builders, shape, order):
    kb = builders["kb"](shape, order)
    base, numbers = kb.channels[0], own_numbers(kb.channels[0])
    program = trace(lambda x: infer(base, kb.inference, x, numbers), names("x", 2))
    x = points(kb, 40)
    expected = kb.gains(x)
    np.testing.assert_allclose([program(*map(float, p)) for p in x], expected, atol=EXACT)
    np.testing.assert_allclose(
        [infer(base, kb.inference, tuple(map(float, p)), numbers) for p in x], expected, atol=EXACT
    )


def test_three_inputs(builders):
    kb = builders["kb"](inputs=("e", "e_rate", "speed"))
    x = points(kb, 60)
    np.testing.assert_allclose(kb.gains(x), [naive_gains(kb, point) for point in x], atol=EXACT)


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
def test_mamdani_with_singletons_by_scikit_fuzzy_is_the_same(builders, t_norm):
    """Scaled output sets, joined by maximum, centroid; singletons as triangles too thin to overlap."""
    kb = builders["kb"](t_norm=t_norm)
    base = kb.channels[0]
    and_ = np.fmin if t_norm == "minimum" else np.multiply
    thin = 1e-4
    for point in points(kb, 25, spread=0.4):
        grades = []
        for v, x in zip(base.inputs, point, strict=True):
            c, far = v.centres, 1e3
            sets = [[-far, -far, c[0], c[1]], [c[0], c[1], c[1], c[2]], [c[1], c[2], far, far]]
            universe = np.unique([*c, -far, far, x])
            grades.append([skfuzzy.interp_membership(universe, skfuzzy.trapmf(universe, s), x) for s in sets])
        for gain in range(3):
            fired = {r.gains[gain]: and_(grades[0][r.terms[0]], grades[1][r.terms[1]]) for r in base.rules}
            outputs = sorted(fired)
            universe = np.array([u + side for u in outputs for side in (-thin, 0.0, thin)])
            aggregated = np.array([grade for u in outputs for grade in (0.0, fired[u], 0.0)])
            centroid = skfuzzy.defuzz(universe, aggregated, "centroid")
            # The centroid's integrals lose digits where 10 and 1e-4 meet: about 1e-16 * 10 / 1e-4.
            assert kb.gains([point])[0, gain] == pytest.approx(centroid, abs=1e-10)


@pytest.mark.parametrize("order", [0, 1])
def test_gains_never_leave_their_box(builders, order):
    kb = builders["kb"]("gaussian", order)
    base = kb.channels[0]
    wild = tuple(replace(rule, gains=tuple(3.0 * g - 10.0 for g in rule.gains)) for rule in base.rules)
    gains = kb.with_channel(0, replace(base, rules=wild)).gains(points(kb, 2_000))
    assert gains.min() == 0.0
    assert gains.max() == 10.0


def test_at_a_rule_s_centre_its_gains_hold(kb):
    base = kb.channels[0]
    centres = [[v.centres[j] for v, j in zip(base.inputs, rule.terms, strict=True)] for rule in base.rules]
    np.testing.assert_allclose(kb.gains(centres), [rule.gains for rule in base.rules], atol=EXACT)


def test_where_nothing_fires_the_reference_gains_hold(kb):
    nothing = kb.with_channel(0, kb.channels[0].switched([False] * 9))
    np.testing.assert_array_equal(nothing.gains(points(kb)), np.tile(kb.channels[0].reference, (200, 1)))
    empty = nothing.compact()
    assert empty.n_rules == 0
    np.testing.assert_array_equal(empty.gains([[0.0, 0.0]]), [kb.channels[0].reference])


def test_a_missing_rule_is_taken_over_smoothly(builders):
    kb = builders["kb"]()
    base = kb.channels[0]
    kb = kb.with_channel(0, base.switched([rule.terms != (2, 2) for rule in base.rules]))
    way = np.linspace(0.0, 1.0, 2_001)[:, None]
    line = np.array([0.25, -0.5]) + way * (np.array([1.75, 4.0]) - [0.25, -0.5])
    gains = kb.gains(line)
    np.testing.assert_allclose(gains[-1], base.reference, atol=EXACT)
    # From the centre of a rule that is there to one that is not: no jump. The firing strength falls by at most 2 per
    # unit of the way, gains by at most 10 / fallback = 20 times that.
    assert np.abs(np.diff(gains, axis=0)).max() < 40.0 / 2_000


def test_outside_the_taught_ranges_gains_return_to_the_reference(kb):
    base = kb.channels[0]
    edge, far = kb.gains([[2.5, 0.0]]), kb.gains([[2.5 + 4.5 * 1.001, 0.0]])
    np.testing.assert_array_equal(far, [base.reference])
    halfway = kb.gains([[2.5 + 0.5 * 4.5, 0.0]])
    np.testing.assert_allclose(halfway, 0.5 * (edge + base.reference), atol=EXACT)
    for bad in (np.nan, np.inf, -np.inf):
        np.testing.assert_array_equal(kb.gains([[bad, 0.0], [0.0, bad]]), [base.reference] * 2)


def test_authority_leads_from_the_reference_to_the_schedule(kb):
    x = points(kb, spread=0.5)
    reference = np.array(kb.channels[0].reference)
    full, none = kb.gains(x), kb.gains(x, authority=0.0)
    np.testing.assert_array_equal(none, np.tile(reference, (len(x), 1)))
    np.testing.assert_allclose(kb.gains(x, 0.3), reference + 0.3 * (full - reference), atol=EXACT)


def test_rules_at_the_reference_are_fixed_gains(kb):
    base = kb.channels[0]
    same = replace(base, rules=tuple(replace(rule, gains=base.reference) for rule in base.rules))
    difference = kb.with_channel(0, same).gains(points(kb)) - base.reference
    assert np.abs(difference).max() < 1e-14


@given(e=st.floats(-2.0, 2.5), e_rate=st.floats(-4.0, 4.0))
def test_shares_sum_to_one_inside(e, e_rate):
    x = Variable("e", "", -2.0, 2.5, (-1.5, 0.25, 1.75))
    y = Variable("e_rate", "", -4.0, 4.0, (-3.0, -0.5, 4.0))
    base = RuleBase("q", (x, y), full_grid((3, 3), (1.0, 1.0, 1.0)), (0.0,) * 3, (2.0,) * 3, (1.0,) * 3)
    shares = KnowledgeBase("p", base).shares([[e, e_rate]])
    assert shares.sum() == pytest.approx(1.0, abs=1e-14)
    assert (shares >= 0.0).all()


def test_several_channels_are_independent(several):
    assert several.input_names == ("e_1", "speed", "e_2", "z_2")
    assert several.gain_names == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    x = np.random.default_rng(2).uniform(-1.0, 2.0, (30, 4))
    together = several.gains(x)
    for k, (base, columns) in enumerate(zip(several.channels, ([0, 1], [2, 3, 1]), strict=True)):
        assert several.columns(k) == columns
        alone = KnowledgeBase("cart", (base,), tick=0.02)
        np.testing.assert_array_equal(together[:, 3 * k : 3 * k + 3], alone.gains(x[:, columns]))


def test_wrong_shapes_and_settings_are_refused(kb):
    with pytest.raises(ValueError, match=r"inputs must have shape \(n, 2\) \('e', 'e_rate'\), got \(3,\)"):
        kb.gains([1.0, 2.0, 3.0])
    for settings, message in (
        ({"t_norm": "min"}, "no t-norm 'min'"),
        ({"order": 2}, "order must be 0"),
        ({"fallback": 0.0}, "fallback must be a positive number"),
        ({"authority": 1.5}, "authority must be in"),
    ):
        with pytest.raises(ValueError, match=message):
            Inference(**settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": (3.0, 11.0, 3.0)}, "ki of channel 'position' must satisfy low <= reference <= high"),
        ({"low": (0.0, 0.0)}, "low of channel 'position' must be finite numbers"),
        ({"high": (np.inf, 10.0, 10.0)}, "high of channel 'position' must be finite numbers"),
        ({"rules": (Rule((0, 3), (1.0, 1.0, 1.0)),)}, "'e_rate' has terms 0 .. 2, got 3"),
        ({"rules": (Rule((0,), (1.0, 1.0, 1.0)),)}, "one term for each of"),
        ({"rules": (Rule((0, 0), (1.0, 1.0)),)}, "gains of rule 1"),
        ({"rules": (Rule((0, 0), (1.0,) * 3), Rule((0, 0), (2.0,) * 3))}, "repeats the terms"),
        ({"rules": (Rule((0, 0), (1.0,) * 3, firing=np.nan),)}, "finite numbers"),
    ],
)
def test_wrong_rule_bases_are_refused(builders, change, message):
    with pytest.raises(ValueError, match=message):
        replace(builders["base"](), **change)


def test_wrong_knowledge_bases_are_refused(builders, kb):
    base = builders["base"]()
    with pytest.raises(ValueError, match="at least one channel"):
        KnowledgeBase("p", ())
    with pytest.raises(ValueError, match="different names"):
        KnowledgeBase("p", (base, base))
    with pytest.raises(ValueError, match="uses the error integral 'z'"):
        KnowledgeBase("p", builders["base"](inputs=("e", "z")))
    with pytest.raises(ValueError, match="slew limit needs"):
        KnowledgeBase("p", base, slew=1.0)
    with pytest.raises(ValueError, match="tick must be a positive number"):
        KnowledgeBase("p", base, tick=0.0)
    with pytest.raises(ValueError, match="slopes of rule 1"):
        KnowledgeBase("p", base, Inference(order=1))
    with pytest.raises(ValueError, match=r"fitness\['ms'\] must be a finite number"):
        replace(kb, fitness={"ms": np.inf})
    with pytest.raises(ValueError, match=r"taught\[0\]\['who'\] must be plain data"):
        replace(kb, taught=[{"who": object()}])
    with pytest.raises(ValueError, match="one switch per rule"):
        base.switched([True])
