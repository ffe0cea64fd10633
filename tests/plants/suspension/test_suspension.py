"""The full car at single states: the specification's cases P1 to P3, three derivations of one car, symmetries."""

import numpy as np
import pytest

import plants
from experiments.reproduce.vehicles.suspension import loop_forms
from plants.core.analysis.slopes import Slopes
from plants.core.blocks import BlockSample
from plants.core.replay import replay
from plants.mechanics.algebra.blocks import blocks_of
from plants.mechanics.algebra.calculus import Taped
from plants.suspension import SUSPENSION, energy, equilibrium, motion, suspension
from plants.suspension.geometry import contacts, pose
from plants.suspension.parameters import C_MAX, C_MIN, PARAMETERS, WHEELS, loaded
from plants.suspension.signals import REST, allocate
from tests.reference.suspension_mechanism import full_car

P = SUSPENSION.nominal()
X3 = (0.56, 0.02, -0.03, 0.27, -0.16, 0.10, -0.02, 0.3, -0.4, 0.5, 1.2, -0.8, 0.6, -1.5)
W3 = (0.01, -0.005, 0.015, 0.012, 0.2, -0.1, 0.3, -0.4)
U3 = (1500.0, 3000.0, 2700.0, 5000.0, 150.0, -250.0, 0.0, 400.0)
PASSIVE = (3000.0, 3000.0, 2700.0, 2700.0, 0.0, 0.0, 0.0, 0.0)
LEVEL = (0.0,) * 8


def close(found, expected, relative=1e-8):
    """The specification's tolerance: relative to the largest entry."""
    expected = np.asarray(expected, float)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=relative * np.abs(expected).max())


def sample(count=40, seed=5):
    return BlockSample.draw(SUSPENSION, count, np.random.default_rng(seed))


def test_p1_rest():
    close(REST[:7], [0.5497148156184, 1.938926527640e-4, 0.0, 0.1507737265736, -0.1507737265736, 0.1199480528970,
                     -0.1199480528970], 1e-12)  # fmt: skip
    at = pose(REST, P)
    tyres = contacts(at, LEVEL[:4], LEVEL[4:], unilateral=False)
    close([c.link.z6 for c in at.corners], [-0.367038592512] * 2 + [-0.351873824730] * 2)
    close(loop_forms.eta(REST, P), [0.429687947987, -0.429687947987, 0.470016055663, -0.470016055663])
    close([tyre.z12 for tyre in tyres], [-0.302548537554] * 2 + [-0.311692463165] * 2)
    close([tyre.load for tyre in tyres], [3885.777937698] * 2 + [3383.432062302] * 2)
    close(energy.strut_force(REST, LEVEL, P), [4998.456299523] * 2 + [4486.542309709] * 2)
    kinetic, *others = energy.stored(REST, LEVEL, P)
    assert kinetic == 0.0
    close(others, [8112.032908654, 1183.754742701, 139.720430017, 0.0], 1e-11)
    assert sum(tyre.load for tyre in tyres) == pytest.approx(1482.0 * 9.81, rel=1e-12)


def test_p1_rest_with_the_body_off_the_middle():
    moved = {"b0": 0.03}
    state = equilibrium(moved)
    close(state[:7], [0.5497165973368, 1.965468667e-4, -7.467817021150e-3, 0.1636221382365, -0.1378524993434,
                      0.1329345749425, -0.1068546002015], 1e-10)  # fmt: skip
    tyres = contacts(pose(state, SUSPENSION.values("parameters", moved)), LEVEL[:4], LEVEL[4:], unilateral=False)
    close([tyre.load for tyre in tyres], [4058.188247737, 3713.375393788, 3507.909813837, 3258.946544638])


def poles(damped):
    u = PASSIVE if damped else LEVEL
    parameters = {} if damped else {"cw_front": 0.0, "cw_rear": 0.0}
    values = plants.linearise(SUSPENSION, REST, parameters, input=u).poles
    return values[values.imag > 0.0]


def test_p2_small_oscillations():
    found = np.sort(poles(damped=False).imag) / (2.0 * np.pi)
    close(found, [1.1839855257, 1.271885464, 1.618742947, 11.5506890715, 11.8368043144, 11.9614168494, 12.0203008881],
          1e-6)  # fmt: skip
    damped = poles(damped=True)
    expected = [-1.676110901 + 7.3317765709j, -2.0693179123 + 7.8312119041j, -2.2399952003 + 10.0678140828j,
                -20.4396521564 + 68.641050011j, -18.4701629511 + 71.1905221928j, -20.3656047522 + 71.58226442j,
                -18.185172264 + 72.9794532578j]  # fmt: skip
    np.testing.assert_allclose(damped[np.argsort(damped.imag)], expected, rtol=1e-6)


def test_p2_inertia_at_rest():
    found = np.array(motion.mass_matrix(0.0, REST, LEVEL, LEVEL, P), float)
    rigid, arms = found[4:, 4:], found[4:, :4]
    close(rigid, [[1482.0, -64.002373928, 0.0], [-64.002373928, 2246.2798792, 0.0], [0.0, 0.0, 583.15080311]], 1e-10)
    front, rear = (15.239964463, -19.811954174, 10.972448411), (15.067058454, 21.093882232, 10.963048853)
    mirror = np.array([-1.0, -1.0, 1.0])
    close(arms, np.transpose([front, mirror * front, rear, mirror * rear]), 1e-9)
    close(np.diag(found)[:4], [5.2254456751] * 2 + [5.4569017486] * 2, 1e-9)
    np.testing.assert_array_equal(found[:4, :4], np.diag(np.diag(found)[:4]))


def test_p3_accelerations_and_forces():
    at = pose(X3, P)
    tyres = contacts(at, W3[:4], W3[4:], unilateral=False)
    close(SUSPENSION.derivative(0.0, X3, U3, W3, P)[7:],
          [2.203515519991, -0.440806335796, 1.167621922679, -83.133575747476, 218.050841962376, 65.444732454674,
           197.222627675313], 1e-11)  # fmt: skip
    close([c.link.z6 for c in at.corners], [-0.336838812412, -0.364729793923, -0.356917393620, -0.376808238590])
    close(at.stroke_rates, [0.307440319188, 0.200422960109, 0.151221557353, 0.367625831378])
    close(loop_forms.eta(X3, P), [0.441172997594, -0.430744964120, 0.466837184397, -0.452983189789])
    close(loop_forms.eta_rates(X3, P), [0.090562442393, -0.090494169500, 0.097339608651, -0.275499120296])
    close([tyre.z12 for tyre in tyres], [-0.298037902542, -0.318044772458, -0.304954628283, -0.322649795889])
    close([tyre.z12_rate for tyre in tyres], [-1.409040597533, -0.824339661132, -0.030309531222, -0.320780620595])
    close([tyre.load for tyre in tyres], [4534.389189096936, 818.374120332042, 4662.103956210372, 1254.236778288885])
    close(energy.strut_force(X3, U3, P), [6817.607982303052, 5442.077123415797, 4713.272034534712, 5827.032567663964])


def test_p3_energies_and_entropy():
    close(energy.stored(X3, W3, P), [353.085911722, 8250.54388654, 1241.74603653, 123.220810068, 7.54806345143], 1e-11)
    dampers, tyres = energy.dissipation(X3, U3, W3, P)
    close(dampers, [141.779324793, 120.508088817, 61.743490402, 675.743759480])
    close(tyres, [297.809310825, 101.930381537, 0.137800152, 15.435030982])
    whole = SUSPENSION.entropy_rate(0.0, X3, U3, W3, P)
    assert whole / 293.15 == pytest.approx(4.82717785089, rel=1e-10)
    beta, alpha, *others = loop_forms.printed_rates(X3, W3, P)
    close([beta, alpha], [0.0019887005878, 0.0121618584046])
    close(others[:4], [0.008944202152, 0.005680456431, 0.005265574643, 0.10065240065])
    close(others[4:8], [0.008084234373, 0.003340817712, 0.002243736286, 0.036245909667])
    close(others[8:], [-0.0913502998345, -0.0312662182720, -4.226894454e-5, -0.004734555492])


def test_p3_multipliers():
    state = loop_forms.redundant_state(X3, W3[:4])
    accelerations, forces = loop_forms.multipliers(state, U3, W3)
    close(forces[:4], [-2891.642471467596, 2196.572747745217, -2160.704646227835, 2499.976188118347], 1e-11)
    close(forces[4:], [-6127.744763169899, -4741.846612449345, -4330.427213486349, -5073.122978112184], 1e-11)
    close(accelerations[3:7], [-6.80776385356, 24.867231310583, 10.514591457131, 36.788724494965], 1e-10)
    close(accelerations[11:], [-21.239882543181, -54.588524572727, 16.523630368535, -48.128008720247], 1e-11)


def accelerations_of_all(points, accelerate):
    return np.array([accelerate(*(tuple(g[:, k].tolist()) for g in (points.x, points.u, points.w))) for k in
                     range(points.x.shape[1])])  # fmt: skip


def moved_parameters(seed=2):
    """All numbers up to 20 % off, so that no sign or place hides behind a nominal zero or an equality."""
    rng = np.random.default_rng(seed)
    values = [(0.05 if q.nominal == 0.0 else q.nominal) * rng.uniform(0.8, 1.2) for q in PARAMETERS]
    return tuple(values)


def test_three_derivations_give_one_motion():
    """Minimal coordinates, multipliers, and the mechanics kit from positions and energies: to 1e-9 at any state."""
    p, points = moved_parameters(), sample()
    minimal = accelerations_of_all(points, lambda x, u, w: SUSPENSION.derivative(0.0, x, u, w, p)[7:])

    def with_multipliers(x, u, w):
        state = loop_forms.redundant_state(x, w[:4], p)
        accelerations, _ = loop_forms.multipliers(state, u, w, p)
        return (*accelerations[:3], *accelerations[7:11])

    redundant = accelerations_of_all(points, with_multipliers)
    declared = full_car().declared()
    calculus = Taped(declared)
    blocks = blocks_of(calculus, declared)
    names = [f"{kind}{k}" for kind, n in (("q", 7), ("v", 7), ("u", 8), ("w", 8), ("p", len(p))) for k in range(n)]
    program = calculus.land([*(m for row in blocks.mass for m in row), *blocks.load], names)

    def by_the_kit(x, u, w):
        values = np.array(replay(program, *x, *u, *w, *p), float)
        return np.linalg.solve(values[:49].reshape(7, 7), values[49:])

    kit = accelerations_of_all(points, by_the_kit)
    scale = np.abs(minimal).max(axis=1, keepdims=True)
    np.testing.assert_allclose(redundant / scale, minimal / scale, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(kit / scale, minimal / scale, rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_the_kit_builds_the_car_as_a_plant():
    built = full_car().build()
    assert np.allclose(built.derivative(0.0, X3, U3, W3, P), SUSPENSION.derivative(0.0, X3, U3, W3, P), rtol=1e-9)


def test_parts_of_the_entropy_add_up_on_a_road_that_stands_still():
    still = (*W3[:4], 0.0, 0.0, 0.0, 0.0)
    parts = loop_forms.entropy_by_coordinate(X3, U3, still, P)
    assert len(parts) == 7
    assert sum(parts) == pytest.approx(SUSPENSION.entropy_rate(0.0, X3, U3, still, P), rel=1e-12)


def test_tyres_that_only_push():
    lone = suspension(unilateral=True)
    assert lone.name == "suspension_unilateral"
    lifted = (REST[0] + 0.1, *REST[1:])
    loads = slice(17, 21)
    np.testing.assert_array_equal(lone.outputs(0.0, lifted, PASSIVE, LEVEL, P)[loads], 0.0)
    both = SUSPENSION.outputs(0.0, lifted, PASSIVE, LEVEL, P)
    assert max(both[loads]) < 0.0
    names = [q.name for q in SUSPENSION.measurements]
    assert names[17] == "tyre_load_i"
    assert names[25] == "lifted"
    assert (both[25], lone.outputs(0.0, lifted, PASSIVE, LEVEL, P)[25]) == (1.0, 1.0)
    assert SUSPENSION.outputs(0.0, REST, PASSIVE, LEVEL, P)[25] == 0.0
    pressed = SUSPENSION.derivative(0.0, REST, PASSIVE, LEVEL, P)
    np.testing.assert_array_equal(lone.derivative(0.0, REST, PASSIVE, LEVEL, P), pressed)
    free = lone.derivative(0.0, lifted, PASSIVE, LEVEL, P)[7:]
    momentum = np.dot(motion.mass_matrix(0.0, lifted, LEVEL, LEVEL, P)[4], (*free[3:], *free[:3]))
    assert momentum == pytest.approx(-1482.0 * 9.81)  # the car as a whole falls, whatever the struts push inside


def test_dampers_give_what_is_demanded_where_they_can():
    p, rates = P, np.array(pose(X3, P).stroke_rates)
    demanded = 900.0 * np.ones(4) - 200.0 * np.array([1, 1, -1, -1]) + 100.0 * np.array([1, -1, 1, -1])
    found = allocate(0.0, X3, (900.0, 200.0, 100.0), p)
    np.testing.assert_allclose(found[:4], np.clip(demanded / rates, C_MIN, C_MAX), rtol=1e-12)
    assert found[4:] == (0.0,) * 4
    assert allocate(0.0, X3, (-900.0, 0.0, 0.0), p)[:4] == (C_MIN,) * 4  # no damper pulls where it is pushed
    assert allocate(0.0, X3, (1e5, 0.0, 0.0), p)[:4] == (C_MAX,) * 4
    assert allocate(0.0, REST, (1e5, 1e5, 1e5), p)[:4] == (C_MIN,) * 4  # nothing moves


def test_active_struts_turn_and_lift_the_body_as_commanded():
    """Each command alone accelerates its own output upwards, nose down, left side up."""
    active = suspension(active=True)
    for channel, name in enumerate(("heave", "pitch", "roll")):
        commands = [0.0, 0.0, 0.0]
        commands[channel] = 100.0
        inputs = active.allocate(0.0, REST, tuple(commands), P)
        accelerations = active.derivative(0.0, REST, inputs, LEVEL, P)[7:10]
        assert active.channels[channel].output == name
        assert accelerations[channel] > 0.1
        others = [abs(a) for k, a in enumerate(accelerations) if k != channel]
        assert max(others) < 0.3 * accelerations[channel]


def test_a_worn_damper_gives_less_at_every_setting():
    worn = SUSPENSION.values("parameters", {"cs_front": 1800.0, "cs_rear": 1620.0})
    still = (*X3[:7], *X3[7:])
    spring, fresh, old = (
        np.array(energy.strut_force(still, u, p)) for u, p in ((LEVEL, P), (PASSIVE, P), (PASSIVE, worn))
    )
    np.testing.assert_allclose(old - spring, 0.6 * (fresh - spring), rtol=1e-9)


def test_a_load_is_a_point_mass_on_the_body():
    """The loaded car's inertia and weight are the nominal ones and those of a point at (-1.2, 0, 0.2); without roll."""
    car, x = SUSPENSION.values("parameters", loaded(300.0, along=-1.2, above=0.2)), (*X3[:2], 0.0, *X3[3:])
    added = np.subtract(*(np.array(motion.mass_matrix(0.0, x, U3, W3, p), float) for p in (car, P)))[4:, 4:]
    sine, cosine = np.sin(x[1]), np.cos(x[1])
    column = np.array([[-sine, 0.0, cosine], [0.2, 0.0, 1.2], [0.0, -0.2, 0.0]])
    np.testing.assert_allclose(added, 300.0 * column @ column.T, atol=1e-9)
    still = (*x[:7], *(0.0,) * 7)
    force = np.subtract(*(motion.force(0.0, still, U3, W3, p) for p in (car, P)))[4:]
    np.testing.assert_allclose(force, -300.0 * 9.81 * column @ [-sine, 0.0, cosine], atol=1e-8)


def test_a_car_that_cannot_rest_is_told():
    with pytest.raises(ValueError, match="has no rest near its nominal one"):
        equilibrium({"ks_front": 100.0, "ks_rear": 100.0})


def test_slopes_of_the_commands_vanish_at_rest():
    """A damper that does not move makes no force: at rest no linear model sees the controller."""
    local = Slopes(SUSPENSION, commands=True).at(0.0, np.array(REST), np.zeros(3), np.zeros(8), np.array(P))
    np.testing.assert_array_equal(local.B, 0.0)
    assert len(WHEELS) == 4
