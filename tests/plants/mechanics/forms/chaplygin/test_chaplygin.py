"""Chaplygin's equations: against the pseudo-inverse, with and without names, and how long they are."""

import math
from functools import cache

import numpy as np
import pytest

import plants
from benchmarks.mechanics.expression_size import by_symengine, one_reciprocal
from experiments.reproduce.mechanics import systems
from plants.core.elementary import cos, sin, where
from plants.mechanics import Mechanism, derivation
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.algebra.calculus import triangle
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms import pseudo_inverse
from plants.mechanics.forms.chaplygin.equations import StructureArrays, chaplygin, mechanised
from plants.mechanics.forms.chaplygin.size import whole, with_names, written_out
from plants.mechanics.forms.chaplygin.split import admissible_positions, split_of

# Independent coordinates as published, and what vanishes at B's poles (sines of the angles away from them).
SYSTEMS = {
    "sleigh": (systems.sleigh, "x th", lambda q: [np.cos(q[2])]),
    "vertical_disk": (systems.vertical_disk, "ph ps", lambda _: []),
    "rolling_disk": (systems.rolling_disk, "ps th ph", lambda _: []),
    "cart_1": (lambda: systems.cart(1), "fL fR al0", lambda _: []),
    "cart_2": (lambda: systems.cart(2), "fL fR al0 al1", lambda _: []),
    "cart_3": (lambda: systems.cart(3), "fL fR al0 al1 al2", lambda _: []),
    "snakeboard": (systems.snakeboard, "th ps fb ff", lambda q: [np.sin(q[5] - q[4])]),
    "trailers": (systems.trailers, "x th0", lambda q: [np.cos(q[2])]),
    "pendulum": (systems.pendulum, "x", lambda q: [q[1]]),
    "double_pendulum": (systems.double_pendulum, "xa xb", lambda q: [q[1], (q[3] - q[1]) / 0.7]),
    "pinned_body": (systems.pinned_body, "phi", lambda _: []),
}
# Operations by a published derivation of the same equations: fully substituted, blocks written out, names kept, names
# kept with common subexpressions taken out, blocks with them taken out.
SIZES = {
    "sleigh": (361, 119, 91, 70, 66),
    "rolling_disk": (929, 366, 371, 182, 120),
    "trailers": (1.4e3, 1428, 545, 197, 224),
    "snakeboard": (1.5e5, 3241, 561, 246, 299),
    "cart_1": (3.0e4, 2963, 2004, 544, 324),
    "cart_2": (3.6e5, 7591, 4204, 976, 686),
    "cart_3": (4.0e6, 14621, 7706, 1517, 1154),
}
SLACK = 1.5
CLOSE = 1e-10  # of 1 + |a|; rounding gives 1e-11 at 0.1 rad from a pole, where B^3 is about 1e3


@cache
def declared(name):
    make, independent, _ = SYSTEMS[name]
    mech = make()
    mech.independent(*independent.split())
    return mech.declared()


@cache
def derived(name, **options):
    return chaplygin(declared(name), **options)


def states(mechanism, split, count, away=lambda _: [], seed=11):
    """Random (q, z, u) with every |sine| of `away` above that of 0.1 rad."""
    rng = np.random.default_rng(seed)
    kept = [
        q
        for q in admissible_positions(mechanism, np.pi, seed, 3 * count).T
        if all(abs(s) > math.sin(0.1) for s in away(q))
    ]
    assert len(kept) >= count
    for q in kept[:count]:
        yield q, rng.normal(size=len(split.independent)), rng.normal(size=len(mechanism.quantities["u"]))


def gap(mechanism, count=50, away=lambda _: [], t=0.3, **options):
    """Largest difference of all accelerations, dependent ones included, from least constraint, of 1 + |a|."""
    split, full = split_of(mechanism), Full(mechanism)
    parts = chaplygin(mechanism, split=split, **options)
    nominal = [p.nominal for p in mechanism.quantities["p"]]
    worst = 0.0
    for q, z, u in states(mechanism, split, count, away):
        lists = ("rates", "matrix", "right", "slopes", "turning")
        v, lower, right, slopes, turning = (np.array(x, float) for x in parts(lists, t, (*q, *z), u, (), nominal))
        a = np.linalg.solve(np.array(triangle(lower, len(z))), right)
        found = np.empty(mechanism.n)
        found[list(split.independent)] = a
        found[list(split.dependent)] = slopes.reshape(-1, len(z)) @ a + turning
        at = full.at(t, q, v, u)
        assert np.abs(at.jacobian @ v).max() <= CLOSE * (1.0 + np.abs(v).max())
        wanted = pseudo_inverse.accelerations(at)
        worst = max(worst, np.max(np.abs(found - wanted) / (1.0 + np.abs(wanted))))
    return worst


@pytest.mark.parametrize("options", [{}, {"sines": True, "trigonometric": False}, {"kept": False}], ids=str)
@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_are_those_of_least_constraint(name, options):
    assert gap(declared(name), away=SYSTEMS[name][2], **options) <= CLOSE


def test_the_nonholonomic_term_stands_on_the_side_of_the_forces(monkeypatch):
    right = StructureArrays.nonholonomic
    assert gap(declared("sleigh"), away=SYSTEMS["sleigh"][2]) <= CLOSE
    monkeypatch.setattr(StructureArrays, "nonholonomic", lambda self: [-value for value in right(self)])
    assert gap(declared("sleigh"), away=SYSTEMS["sleigh"][2]) > 0.1
    # No such term where the constraints are holonomic: B is a gradient, and its skew part is 0 as a number.
    assert gap(declared("pinned_body")) <= CLOSE


def test_skew_array_is_antisymmetric_and_empty_for_constant_slopes():
    mechanism = declared("cart_1")
    found = mechanised(mechanism)
    names = [str(name) for name in found.kept.ordered(found.equations)]
    assert [name for name in names if "Asy" in name] == [
        "__Asy0_0_1",
        "__Asy1_0_1",
    ]  # of x and y; the heading is holonomic


def test_definitions_stand_before_their_use_and_nothing_is_substituted_back():
    found = mechanised(declared("trailers"))
    kept, seen = found.kept, set()
    spare = kept.name("spare", found.lists["slopes"][0] ** 2)
    order = kept.ordered(found.equations)
    for name in order:
        below = {s for s in kept.definitions[name].free_symbols if s in kept.definitions}
        assert below <= seen
        seen.add(name)
    assert spare in kept.definitions
    assert spare not in order  # nobody uses it
    used = {s for value in (*found.equations, *(kept.definitions[n] for n in order)) for s in value.free_symbols}
    assert set(order) <= used
    slopes = [s for s in found.lists["slopes"] if s in kept.definitions]
    # The last trailer's turning is written in the name of the tractor's side speed, not in its tangent.
    assert len(slopes) == 3
    assert slopes[0] in kept.definitions[slopes[1]].free_symbols
    assert slopes[1] in kept.definitions[slopes[2]].free_symbols


@pytest.mark.parametrize("options", [{}, {"trigonometric": False}], ids=str)
def test_inertia_that_is_0_under_its_names_is_dropped(options):
    _, coupling, _ = mechanised(declared("sleigh"), **options).lists["matrix"]  # a m (cos tan - sin)
    assert coupling == 0


def test_a_derivation_is_stored_under_its_split():
    keys = set()
    for independent in (("x", "th"), ("y", "th"), ()):
        mech = systems.sleigh()
        if independent:
            mech.independent(*independent)
        keys.add(derivation.storage_key(mech.declared(), {"form": "chaplygin"}))
    assert len(keys) == 3


def test_derivatives_are_formed_once():
    found = mechanised(declared("rolling_disk"))
    count = len(found.kept.definitions)
    inertia = found.lists["matrix"][-1]
    assert found.kept.delta(inertia, 0) is found.kept.delta(inertia, 0)
    assert len(found.kept.definitions) == count


def test_directional_derivative_of_a_name_is_the_slope_of_what_it_stands_for():
    mechanism = declared("trailers")
    kept = (found := mechanised(mechanism)).kept
    deltas = [kept.delta(found.lists["matrix"][1], r) for r in range(2)]
    program = kept.land([found.lists["matrix"][1], *deltas, *found.lists["slopes"]], mechanism.inputs())
    rest = [0.0] * 7 + [p.nominal for p in mechanism.quantities["p"]]
    q, step = np.array([0.1, -0.2, 0.4, 0.3, -0.5]), 1e-5
    _, *slopes = program(0.0, *q, *rest)
    B = np.array(slopes[2:]).reshape(3, 2)
    for r in range(2):
        move = np.zeros(5)
        move[[0, 2]], move[[1, 3, 4]] = np.eye(2)[r], B[:, r]
        ahead, behind = (program(0.0, *(q + sign * step * move), *rest)[0] for sign in (1.0, -1.0))
        # Central difference: step^2 / 6 of a third derivative of order 10, and rounding 1e-16 / step.
        assert slopes[r] == pytest.approx((ahead - behind) / (2.0 * step), abs=1e-8)


# ------------------------------------------------------------------------------------------------------- declaration


@pytest.mark.parametrize(
    ("name", "independent"),
    [("sleigh", "x, th"), ("vertical_disk", "ph, ps"), ("rolling_disk", "ps, th, ph"), ("cart_2", "fL, fR, al0, al1")],
)
def test_a_split_without_poles_near_by_is_chosen(name, independent):
    split = split_of(SYSTEMS[name][0]().declared())
    assert split.note.startswith(f"independent: {independent}; dependent: ")
    assert "chosen" in split.note
    assert "declared" in split_of(declared(name)).note


def test_many_coordinates_are_split_greedily(monkeypatch):
    monkeypatch.setattr("plants.mechanics.forms.chaplygin.split._MOST", 1)
    mechanism = systems.cart(3).declared()
    split = split_of(mechanism)
    assert len(split.dependent) == 3
    assert gap(mechanism, count=5) <= CLOSE


def test_moving_constraints_are_refused():
    with pytest.raises(DeclarationError, match=r"constraint 0 moves by itself .* form='quasi'"):
        chaplygin(systems.turntable().declared())


def test_impossible_splits_are_refused():
    mech = systems.vertical_disk()
    mech.independent("ph")
    with pytest.raises(
        DeclarationError, match=r"4 coordinates under 2 constraints have 2 independent rates, got 1: ph"
    ):
        chaplygin(mech.declared())
    mech.independent("x", "ps")  # the heading is free of the rest
    with pytest.raises(DeclarationError, match=r"rates of x, ps do not determine the others; choose others"):
        chaplygin(mech.declared())
    with pytest.raises(DeclarationError, match=r"each independent coordinate once, got \['x', 'x'\]"):
        mech.independent("x", "x")
    with pytest.raises(DeclarationError, match="coordinate"):
        mech.independent("nobody")


def test_repeated_constraints_are_refused():
    mech = Mechanism("twice")
    mech.coordinates("x y z")
    vx, vy, vz = mech.rates("vx vy vz")
    mech.kinetic(vx**2 + vy**2 + vz**2)
    mech.velocity_constraint(vx - vy)
    mech.velocity_constraint(2 * vx - 2 * vy)
    with pytest.raises(DeclarationError, match=r"repeat each other: build with form='gauss'"):
        chaplygin(mech.declared())


def test_a_constraint_of_second_degree_is_refused():
    mech = Mechanism("square")
    mech.coordinates("x y", initial=(1.0, 1.0))
    vx, vy = mech.rates("vx vy")
    mech.kinetic(vx**2 + vy**2)
    mech.velocity_constraint(vx - vy + vx * vy)
    with pytest.raises(DeclarationError, match="not linear"):
        chaplygin(mech.declared())


def test_energy_and_rows_may_depend_on_time():
    mech = Mechanism("moving")  # a blade that turns on a body whose mass and whose ground move
    x, _y, th = mech.coordinates("x y th")
    vx, vy, om = mech.rates("vx vy om")
    t = mech.time
    mech.kinetic((2 + sin(t)) / 2 * ((vx + cos(t) * 0.3 * x) ** 2 + (vy - 0.2 * om * cos(th)) ** 2) + om**2 / 4)
    mech.potential(0.7 * sin(x + t))
    mech.velocity_constraint(-vx * sin(th + t / 2) + vy * cos(th + t / 2))
    assert gap(mech.declared(), away=lambda q: [np.cos(q[2] + 0.15)]) <= CLOSE


@pytest.mark.parametrize("kept", [True, False])
def test_forces_with_selects_follow_the_dependent_rates(kept):
    mech = systems.sleigh()
    v = mech.names.symbols["v"]
    mech.force({"y": -0.4 * v[1] * where(v[1], 1.0, 3.0)}, kind="dissipative")
    assert gap(mech.declared(), away=SYSTEMS["sleigh"][2], kept=kept) <= CLOSE


def test_without_constraints_these_are_lagranges_equations():
    mech = Mechanism("free")
    x, th = mech.coordinates("x th")
    vx, om = mech.rates("vx om")
    mech.kinetic(vx**2 + vx * om * cos(th) + om**2)
    mech.potential(cos(th) + x**2)
    mechanism = mech.declared()
    parts, at = chaplygin(mechanism), Full(mechanism).at(0.0, (0.3, 0.5), (0.7, -0.2))
    lower, right = parts(("matrix", "right"), 0.0, (0.3, 0.5, 0.7, -0.2), (), (), ())
    a = np.linalg.solve(triangle(lower, 2), right)
    np.testing.assert_allclose(a, pseudo_inverse.accelerations(at), rtol=1e-12)


# ------------------------------------------------------------------------------------------------------------- lengths


def operations(parts):
    return sum(whole(parts).counts().values())


@pytest.mark.parametrize("name", SIZES)
def test_lengths_with_names_kept(name):
    _, _, names, shared, _ = SIZES[name]
    mechanism = declared(name)
    found = mechanised(mechanism, trigonometric=False)
    assert with_names(found) <= SLACK * names
    assert operations(derived(name, trigonometric=False).condensed()) <= SLACK * shared
    # Names pay where nothing else is shared: 0.18 (snakeboard) to 0.75 (cart_1) of the operations remain.
    assert with_names(found) < 0.8 * with_names(found, written_back=True)


@pytest.mark.parametrize("name", SIZES)
def test_lengths_with_every_name_replaced(name):
    full, blocks, _, _, shared = SIZES[name]
    mechanism = declared(name)
    # The trailers' slopes are sums of products here; see the test below.
    slack = 2.1 if name == "trailers" else SLACK
    assert with_names(mechanised(mechanism, trigonometric=False), written_back=True) <= slack * blocks
    assert operations(chaplygin(mechanism, kept=False, trigonometric=False).condensed()) <= SLACK * shared
    program = whole(derived(name, trigonometric=False))
    assert full / 4 < written_out(program.tape, program.outputs) < 4 * full


@pytest.mark.parametrize("written_back", [False, True])
def test_equations_shared_by_symengine_are_the_same(written_back):
    mechanism, parts = declared("cart_1"), derived("cart_1")
    other = by_symengine(mechanised(mechanism), parts, written_back=written_back)
    nominal = [p.nominal for p in mechanism.quantities["p"]]
    for q, z, u in states(mechanism, split_of(mechanism), 3):
        block = (("matrix", "right", "turning"), 0.0, (*q, *z), u, (), nominal)
        for left, right in zip(parts(*block), other(*block), strict=True):
            np.testing.assert_allclose(np.array(left, float), np.array(right, float), rtol=1e-11, atol=1e-12)


def test_the_form_of_the_solve_decides_the_written_out_length():
    # The plants' solve forms L D again from L and D, which squares what each pivot adds when nothing is shared. With
    # each product formed once the longest program has the published length.
    program = whole(derived("cart_3", trigonometric=False), one_reciprocal)
    assert written_out(program.tape, program.outputs) == pytest.approx(4.0e6, rel=0.05)


def test_written_out_length_is_that_of_the_text():
    program = whole(derived("vertical_disk"))
    text, tape = {}, program.tape
    for node in tape.needed(program.outputs):
        arguments = [text[a] for a in tape.arguments[node]]
        text[node] = "leaf" if not arguments else "OP(" + ",".join(arguments) + ")"
    assert written_out(tape, program.outputs) == sum(text[node].count("OP") for node in program.outputs)


def test_naming_sines_leaves_one_call_for_each():
    mechanism = declared("cart_3")
    found = mechanised(mechanism, sines=True, trigonometric=False)
    assert with_names(found) <= SLACK * 5869
    definitions = [found.kept.definitions[name] for name in found.kept.ordered(found.equations)]
    functions = [str(d) for d in definitions if str(d).startswith(("sin(", "cos("))]
    assert len(functions) == len(set(functions)) == 8  # of the heading and of three links
    assert "sin(" not in "".join(str(d) for d in definitions if str(d) not in functions)


def test_a_plant_in_independent_rates():
    plant = systems.vertical_disk().build("chaplygin", step=1e-3)
    assert plant.velocities == ("d_ph", "d_ps")
    x = plant.equations.state_from((0, 0, 0, 0), (1.0, 0, 0.8, 4.0))
    end = plants.simulate(plant, t_end=5.0, step=1e-3, initial=x, inputs={"tph": 0.05, "tps": 0.1}).states[-1]
    np.testing.assert_allclose(end[:2], (0.1367787965, 0.5779313487), atol=1e-8)
    assert plant.equations.facts["independent"] == [2, 3]
