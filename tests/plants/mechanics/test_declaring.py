"""Names that are dangerous elsewhere, and what a wrong declaration is told: what was expected, what came, what to do."""

import numpy as np
import pytest

import plants
from experiments.reproduce.mechanics import systems
from plants.core.elementary import cos, sin, where
from plants.mechanics import Mechanism
from plants.mechanics.algebra.symbolic import SymbolicError
from plants.mechanics.declaration.declaration import DeclarationError

DANGEROUS = ["ff", "I", "S", "E", "N", "x0", "u", "p", "out", "t", "lambda", "where", "fma"]


def arm(names):
    """Two links, a wheel without slip, inputs, a disturbance and parameters: thirteen names."""
    a, b, s, da, db, ds, F, M, wind, m, l, r, c = names
    mech = Mechanism("arm")
    A, _, _ = mech.coordinates(f"{a} {b} {s}")
    dA, dB, dS = mech.rates(f"{da} {db} {ds}")
    push, moment = mech.inputs(f"{F} {M}")
    gust = mech.disturbances(wind)
    mass, length, radius, rubbing = (
        mech.parameter(name, value) for name, value in ((m, 1.2), (l, 0.5), (r, 0.1), (c, 0.05))
    )
    mech.kinetic(mass / 2 * (dS**2 + length**2 * dA**2 + 2 * length * cos(A) * dA * dS) + 0.02 * dB**2 + 0.3 * dS**2)
    mech.potential(mass * 9.81 * length * cos(A))
    mech.force({s: push + gust, b: moment})
    mech.force({a: -rubbing * dA}, kind="dissipative")
    mech.velocity_constraint(dS - radius * dB)
    mech.basis(**{f"{b}_w": (0, 1, radius), f"{a}_w": (1, 0, 0)})
    return mech


HARMLESS = ["a", "b", "s", "da", "db", "ds", "F", "M", "wind", "m", "l", "r", "c"]


@pytest.mark.parametrize("way", ["symbols", "tape"])
@pytest.mark.parametrize("form", ["quasi", "routh"])
@pytest.mark.parametrize("shift", [0, 5, 9])
def test_dangerous_names_change_nothing(shift, form, way):
    names = DANGEROUS[shift:] + DANGEROUS[:shift]
    plant, wanted = (arm(n).build(form, derivatives=way) for n in (names, HARMLESS))
    x = (0.3, 0.2, 0.1, *((0.5, 0.4) if form == "quasi" else (0.4, 0.5, 0.05)))
    block = (0.2, x, (0.4, -0.3), (0.1,), wanted.nominal())
    assert plant.derivative(*block) == wanted.derivative(*block)
    assert plant.energy(*block) == wanted.energy(*block)
    assert [q.name for q in plant.parameters] == names[9:]
    assert plant.equations.layout[names[0]] == 0
    assert set(plant.equations.observe(*block[:4])) >= {"energy", "multipliers"}


def test_kernels_of_dangerous_names_compile_and_run():
    plant, wanted = arm(DANGEROUS).build(), arm(HARMLESS).build()
    runs = [
        plants.simulate(
            p, 0.2, 1e-2, (0.3, 0, 0, 0.1, 0.2), inputs={p.inputs[0].name: 0.5}, parameters={p.parameters[1].name: 0.6}
        )
        for p in (plant, wanted)
    ]
    # A kernel's rows are called after the inputs, and products are ordered by what they are of: the last bit may move.
    np.testing.assert_allclose(runs[0].states, runs[1].states, rtol=1e-14, atol=1e-17)
    assert not np.array_equal(runs[0].states[0], runs[0].states[-1])


@pytest.mark.parametrize("name", ["self", "name", "form", "kind"])
def test_names_of_the_kits_own_arguments(name):
    mech = Mechanism("m")
    x = mech.coordinates("x")
    v = mech.rates()
    size = mech.parameters(**{name: 2.0})
    mech.kinetic(size * v**2 / 2)
    mech.force({x: 1.0})
    mech.basis(**{f"{name}_": (1.0,)})
    assert mech.build("quasi").derivative(0.0, (0.0, 0.0), (), (), (4.0,)) == (0.0, 0.25)


# ---------------------------------------------------------------------------------------------------------------- messages


def plane(name="plane"):
    mech = Mechanism(name)
    x, y = mech.coordinates("x y", initial=(0.6, -0.8))
    vx, vy = mech.rates()
    mech.kinetic((vx**2 + vy**2) / 2)
    return mech, (x, y), (vx, vy)


def refused(words, build, error=DeclarationError):
    """What `build` says must contain all `words`."""
    with pytest.raises(error) as caught:
        build()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def declaring(declare, **options):
    def build():
        mech, q, v = plane()
        declare(mech, q, v)
        return mech.build(**options)

    return build


DECLARED = {
    "basis breaks constraints": (
        lambda m, q, v: (m.velocity_constraint(v[0]), m.basis(a=(0, 1), b=(1, 0))),
        ["basis vector 'b'", "A D is 1", "0 was expected"],
    ),
    "basis spans too little": (
        lambda m, q, v: m.basis(a=(0, 1)),
        ["velocities a do not give all", "x = ", "miss by", "mech.basis"],
    ),
    "basis of dependent vectors": (
        lambda m, q, v: (m.velocity_constraint(v[0] - v[1]), m.basis(a=(1, 1), b=(2, 2))),
        ["leave 1 degrees of freedom", "['a', 'b'] spans 1"],
    ),
    "velocity constraint not linear": (
        lambda m, q, v: (m.velocity_constraint(v[0] * v[1]), m.basis(a=(1, 0))),
        ["not linear in the rates", "A(q, t) v + b(q, t) = 0"],
    ),
    "kinetic energy not quadratic": (lambda m, q, v: m.kinetic(v[0] ** 4), ["not of second degree in the rates"]),
    "contradicting constraints": (
        lambda m, q, v: (m.position_constraint(q[0] - 1.0), m.position_constraint(q[0] - 2.0)),
        ["no coordinates near", "x = ", "residuals", "contradict", "initial=..."],
    ),
    "wrong length of a basis vector": (lambda m, q, v: m.basis(a=(1, 0, 0)), ["'a' needs 2 entries", "x, y", "got 3"]),
    "basis vector given twice": (lambda m, q, v: (m.basis(a=(1, 0)), m.basis(a=(0, 1))), ["'a' is given twice"]),
    "basis vector called as a coordinate": (lambda m, q, v: m.basis(x=(1, 0), b=(0, 1)), ["the name 'x' is taken"]),
    "symbol of another mechanism": (
        lambda m, q, v: m.force({plane()[1][0]: 1.0}),
        ["'plane'", "'x' was declared for another mechanism"],
    ),
    "basis of constraints that are not linear": (
        lambda m, q, v: (m.velocity_constraint(v[0] * v[1], linear=False), m.suggest_basis()),
        ["not linear in the rates", "mech.admissible"],
    ),
    "wrong length of an offset": (
        lambda m, q, v: (m.basis(a=(1, 0), b=(0, 1)), m.basis_offset(1.0)),
        ["basis_offset needs 2 entries", "got 1"],
    ),
    "offset without basis": (lambda m, q, v: m.basis_offset(1.0, 0.0), ["goes with mech.basis"]),
    "unknown coordinate": (lambda m, q, v: m.force({"yy": 1.0}), ["coordinate of mechanism 'plane'", "'yy'", "x, y"]),
    "unknown kind": (lambda m, q, v: m.force({q[0]: 1.0}, kind="drvie"), ["kind of force", "'drvie'", "drive"]),
    "clash of names": (lambda m, q, v: m.parameters(x=1.0), ["'x' is taken", "must differ"]),
    "clash within one call": (lambda m, q, v: m.inputs("F F"), ["'F' is taken"]),
    "clash with a rate": (lambda m, q, v: m.inputs("d_x"), ["'d_x' is taken"]),
    "no name": (lambda m, q, v: m.inputs(" "), ["at least one name"]),
    "wrong number of values": (
        lambda m, q, v: m.coordinates("a b c", initial=(1.0, 2.0)), ["one value or 3", "got 2"],
    ),
    "wrong number of rates": (
        lambda m, q, v: (m.coordinates("a b"), m.rates("da")), ["2 coordinates have no rate", "a, b", "got 1 names"],
    ),
    "restitution": (lambda m, q, v: m.gap(q[1], restitution=1.5), ["restitution lies in [0, 1]", "1.5"]),
    "joints without places": (lambda m, q, v: m.joints("s"), ["joints", "mech.place"]),
    "places without joints": (lambda m, q, v: m.place({"x": 1.0}), ["mech.joints"]),
    "a coordinate without a place": (
        lambda m, q, v: m.place({"x": cos(m.joints("s"))}), ["coordinate 'y'", "every coordinate needs a place"],
    ),
    "joints and gaps": (
        lambda m, q, v: (m.place(dict(zip("xy", (s := m.joints("s"), 2 * s), strict=True))), m.gap(q[1] + 2.0)),
        ["gaps and joints", "position constraints"],
    ),
    "constraint of an input": (
        lambda m, q, v: m.velocity_constraint(v[0] - m.inputs("u")), ["velocity constraint depends on the input 'u'"],
    ),
    "constraint of a disturbance": (
        lambda m, q, v: m.position_constraint(q[0] - m.disturbances("w")), ["position constraint", "disturbance 'w'"],
    ),
    "position constraint of rates": (
        lambda m, q, v: m.position_constraint(v[0]), ["position constraint depends on the rate 'd_x'", "coordinates, time"],
    ),
    "potential of rates": (lambda m, q, v: m.potential(v[0]), ["potential energy depends on the rate 'd_x'"]),
    "kinetic energy of an input": (lambda m, q, v: m.kinetic(m.inputs("u") * v[0]), ["kinetic energy depends on the input"]),
    "gap of rates": (lambda m, q, v: m.gap(v[0]), ["a gap depends on the rate 'd_x'"]),
    "basis of rates": (lambda m, q, v: m.basis(a=(v[0], 0), b=(0, 1)), ["basis vector 'a' depends on the rate 'd_x'"]),
    "offset of an input": (
        lambda m, q, v: (m.basis(a=(1, 0), b=(0, 1)), m.basis_offset(m.inputs("u"), 0)), ["an admissible rate depends on the input 'u'"],
    ),
    "force of a joint": (
        lambda m, q, v: (m.place(dict.fromkeys("xy", s := m.joints("s"))), m.force({"x": s})),
        ["force of kind 'drive' depends on the joint coordinate 's'", "with coordinates"],
    ),
    "force on a joint": (
        lambda m, q, v: m.force({m.joints("s"): 1.0}),
        ["'s' is a joint", "x, y", "forces on the bodies"],
    ),
    "measurement of a joint": (
        lambda m, q, v: (m.place(dict.fromkeys("xy", s := m.joints("s"))), m.measure("a", s)),
        ["measurement depends on the joint coordinate 's'"],
    ),
    "joints that break constraints": (
        lambda m, q, v: (m.place(dict.fromkeys("xy", m.joints("s"))), m.velocity_constraint(v[0] + v[1])),
        ["joints do not fulfil the declared constraints", "miss by"],
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::plants.mechanics.build.BasisWarning")
@pytest.mark.parametrize("what", DECLARED)
def test_a_wrong_declaration_is_told_what_to_do(what):
    declare, words = DECLARED[what]
    refused(words, declaring(declare))


def ringed(m, q, v):
    m.position_constraint((q[0] ** 2 + q[1] ** 2 - 1) / 2)


def placed_on_ring(m, q):
    a = m.joints("a")
    m.place({q[0]: cos(a), q[1]: sin(a)})


BUILT = {
    "unknown form": (lambda m, q, v: None, {"form": "lagrange"}, ["form", "'lagrange'", "quasi"]),
    "unknown way": (lambda m, q, v: None, {"derivatives": "sympy"}, ["way to derive", "'sympy'", "tape"]),
    "quasi without basis": (ringed, {"form": "quasi"}, ["'quasi' needs mech.basis"]),
    "maggi without basis": (ringed, {"form": "maggi"}, ["'maggi' needs mech.basis"]),
    "joints without joints": (ringed, {"form": "joints"}, ["'joints' needs mech.joints"]),
    "free under constraints": (ringed, {"form": "free"}, ["'free' needs no constraints; it has 1"]),
    "gaps in another form": (lambda m, q, v: m.gap(q[1] + 2), {"form": "free"}, ["gaps", "'gauss'", "'free'"]),
    "joints in another form": (
        lambda m, q, v: m.place(dict.fromkeys("xy", m.joints("s"))), {"form": "gauss"}, ["placed by joints", "'gauss'"],
    ),
    "joints in a form that needs a basis": (
        lambda m, q, v: m.place(dict.fromkeys("xy", m.joints("s"))), {"form": "maggi"}, ["placed by joints", "'maggi'"],
    ),
    "unknown stabilisation": (
        ringed, {"form": "routh", "stabilise": ("baumgart", 1, 1)}, ["'baumgarte', alpha, beta", "baumgart'"],
    ),
    "coefficients missing": (ringed, {"form": "routh", "stabilise": "baumgarte"}, ["'baumgarte', alpha, beta"]),
    "nothing to stabilise": (lambda m, q, v: None, {"stabilise": "project"}, ["no constraints to stabilise"]),
    "baumgarte without multipliers": (
        lambda m, q, v: (ringed(m, q, v), m.basis(w=(-q[1], q[0]))), {"stabilise": ("baumgarte", 1.0, 1.0)},
        ["'quasi' holds", "stabilise='project'"],
    ),
    "unknown field": (lambda m, q, v: None, {"stpe": 0.1}, ["field of a plant", "'stpe'", "did you mean 'step'"]),
    "coefficient below 0": (
        ringed, {"form": "routh", "stabilise": ("baumgarte", -1.0, 1.0)}, ["0 or more", "got -1.0, 1.0", "drift would grow"],
    ),
    "joints stabilised": (
        lambda m, q, v: (ringed(m, q, v), placed_on_ring(m, q)), {"stabilise": "project"}, ["nothing drifts with joints"],
    ),
    "chaplygin under constraints that are not linear": (
        lambda m, q, v: m.velocity_constraint(v[0] * v[1] - 1.0, linear=False), {"form": "chaplygin"},
        ["'chaplygin' needs velocity constraints that are linear"],
    ),
    "unknown baked parameter": (lambda m, q, v: m.parameters(mass=1.0), {"bake": ["mas"]}, ["parameter", "'mas'", "mass"]),
    "redundant rows": (
        lambda m, q, v: (ringed(m, q, v), ringed(m, q, v)), {"form": "routh"}, ["repeat each other", "form='gauss'"],
    ),
    "maggi's basis too small": (
        lambda m, q, v: m.basis(w=(1, 0)), {"form": "maggi"}, ["basis of 2 vectors", "got 1", "mech.basis"],
    ),
    "maggi's basis breaks constraints": (
        lambda m, q, v: (ringed(m, q, v), m.basis(w=(q[1], q[0]))), {"form": "maggi"}, ["basis breaks the constraints", "A D ="],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BUILT)
def test_a_wrong_option_is_told_what_to_do(what):
    declare, options, words = BUILT[what]
    refused(words, declaring(declare, **options))


def test_coordinates_without_inertia():
    mech, _, _ = plane()
    mech.coordinates("idle")
    refused(["mass matrix over (x, y, idle)", "not positive definite", "needs inertia"], mech.build)
    mech = Mechanism("loose")
    x = mech.coordinates("x")
    mech.kinetic(mech.rates() ** 2 / 2)
    mech.joints("a idle")
    mech.place({x: mech.names.symbols["s"][0]})
    refused(["mass matrix over (a, idle)", "every joint needs inertia"], mech.build)


def test_coordinates_without_inertia_under_constraints():
    mech, q, _ = plane()
    idle = mech.coordinates("idle")
    mech.position_constraint(q[0] - idle)
    refused(["mass matrix is singular", "x = ", "needs inertia"], lambda: mech.build("routh"))


def test_a_singular_initial_state():
    mech = Mechanism("upright")
    mech.body("b", mass=1.0, inertia=(1.0, 1.0, 2.0))  # theta = 0: the first and the last axis coincide
    refused(["accelerations at the initial state", "not finite", "initial=..."], mech.build)


def test_nothing_declared():
    refused(["no coordinates", "mech.coordinates"], Mechanism("empty").build)


def test_selects_in_energies_need_the_tape():
    def mechanism():
        mech, q, v = plane()
        mech.kinetic(where(q[0], 1.0, 2.0) * v[1] ** 2)
        return mech

    refused(
        ["where", "energy or a constraint", "derivatives='tape'"],
        lambda: mechanism().build(derivatives="symbols"),
        SymbolicError,
    )
    x = (0.5, 0.2, 1.0, -1.0)
    for way in ("tape", "smaller"):
        plant = mechanism().build(derivatives=way)
        assert plant.derivative(0.0, x, (), (), ()) == (1.0, -1.0, 0.0, 0.0)
        assert plant.equations.facts["derivatives"] == "tape"


def test_wrong_lengths_of_states():
    plant = systems.sleigh().build()
    refused(
        ["states of mechanism 'sleigh' must have 5 values", "x, y, th, speed, turning", "got 3"],
        lambda: plant.equations.observe(0.0, (1, 2, 3)),
        ValueError,
    )
    refused(
        ["3 coordinates and as many rates", "got 2 and 3"],
        lambda: plant.equations.state_from((0, 0), (1, 0, 0)),
        ValueError,
    )
    refused(
        ["velocities speed, turning", "miss"],
        lambda: misfit().equations.state_from((0, 0), (1.0, 0.5)),
        DeclarationError,
    )


def misfit():
    """A basis for one branch of its constraint only."""
    mech, q, v = plane()
    mech.velocity_constraint(v[0] * sin(q[0]) - v[1] * cos(q[0]))
    mech.basis(speed=(cos(q[0]), sin(q[0])))
    mech.build()
    mech, _, _ = plane()
    mech.basis(speed=(1, 0), turning=(1, 0))
    return mech.build(check=False)


def test_a_mechanism_without_a_basis_is_built_and_advised():
    from plants.mechanics.build import BasisWarning

    mech, q, v = plane()
    ringed(mech, q, v)
    with pytest.warns(BasisWarning, match="mech.suggest_basis"):
        assert mech.build().equations.form == "routh"


def test_expressions_of_two_mechanisms_do_not_mix():
    one, _, (vx, _) = plane("one")
    other, _, _ = plane("other")
    with pytest.raises(TypeError, match="two tapes"):
        other.kinetic(vx**2)
    assert one.build().equations.form == "free"


def test_a_basis_that_turns_with_time_is_accepted():
    mech, _, (vx, vy) = plane()
    angle = 2.0 * mech.time
    mech.velocity_constraint(-vx * sin(angle) + vy * cos(angle))
    mech.basis(u=(cos(angle), sin(angle)))
    plant = mech.build()
    # along its own blade nothing pushes: u' = 0, and the blade turns the velocity
    np.testing.assert_allclose(
        plant.derivative(0.3, (0, 0, 1.5), (), (), ()), (1.5 * np.cos(0.6), 1.5 * np.sin(0.6), 0.0), atol=1e-15
    )


def test_a_free_system_may_have_a_basis_it_does_not_use():
    mech, _, _ = plane()
    mech.basis(a=(2.0, 0.0), b=(0.0, 3.0))
    mech.force({"x": 1.0})
    assert mech.build("free").derivative(0.0, (0, 0, 1.0, 1.0), (), (), ()) == (1.0, 1.0, 1.0, 0.0)
    assert mech.build("quasi").derivative(0.0, (0, 0, 1.0, 1.0), (), (), ()) == (2.0, 3.0, 0.5, 0.0)


@pytest.mark.parametrize("make", [lambda: systems.cart(1), systems.turntable, lambda: arm(HARMLESS)])
@pytest.mark.parametrize("form", ["quasi", "routh"])
def test_baked_parameters_are_constants(make, form):
    whole = make().build(form)
    names = [q.name for q in whole.parameters]
    for baked in (names[:1], names[1:], names):
        plant = make().build(form, bake=baked)
        assert [q.name for q in plant.parameters] == [name for name in names if name not in baked]
        x = tuple(np.linspace(0.1, 0.4, len(whole.states)))
        rest = (0.3, x, (0.2,) * len(whole.inputs), (0.1,) * len(whole.disturbances))
        np.testing.assert_allclose(
            plant.derivative(*rest, plant.nominal()), whole.derivative(*rest, whole.nominal()), rtol=1e-11, atol=1e-12
        )
        assert plant.energy(*rest, plant.nominal()) == pytest.approx(whole.energy(*rest, whole.nominal()), rel=1e-13)


def test_parameters_to_bake_as_one_text():
    mech, q, _ = plane()
    a, bc = mech.parameters(a=2.0, bc=3.0)
    mech.force({q[0]: a * bc})
    plant = mech.build(bake="bc")
    assert [x.name for x in plant.parameters] == ["a"]
    assert plant.derivative(0.0, (0.0,) * 4, (), (), (5.0,))[2] == 15.0
