"""Reference values of the benchmark systems: accelerations, multipliers, energies, trajectories.

They were made by two formulations and 8th-order integration at 1e-13; ten digits are given, good to the last but one.
"""

from math import cos, pi, sin

import numpy as np
import pytest

import plants
from benchmarks.mechanics import systems

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
STEP = 1e-3  # rk4: its error over these times is below 1e-9 (checked by halving)


def quasi(mech):
    return mech.build("quasi", step=STEP)


def run(plant, q, v, t_end, u=(), start=0.0, step=STEP):
    x = plant.equations.state_from(q, v, t=start)
    names = [quantity.name for quantity in plant.inputs]
    trajectory = plants.simulate(
        plant, t_end=t_end, step=step, initial=x, inputs=dict(zip(names, u or (0.0,) * len(names), strict=True))
    )
    return trajectory.states[-1]


def observed(plant, q, v, u=(), t=0.0):
    return plant.equations.observe(t, plant.equations.state_from(q, v, t=t), u)


def test_sleigh():
    plant = quasi(systems.sleigh())
    q, v = (0, 0, 0.2), (cos(0.2), sin(0.2), 1.5)
    seen = observed(plant, q, v)
    np.testing.assert_allclose(seen["accelerations"], (0.3635409439, 1.6042016650, -0.7627118644), **CLOSE)
    np.testing.assert_allclose(seen["multipliers"], (1.2711864407,), **CLOSE)
    np.testing.assert_allclose(seen["energy"], 1.16375, **CLOSE)
    rate = plant.derivative(0.0, plant.equations.state_from(q, v), (0.0, 0.0), (), plant.nominal())
    assert rate[3] == pytest.approx(0.675, abs=1e-9)
    np.testing.assert_allclose(
        run(plant, q, v, 5.0), (-2.0129519974, 5.9796149445, 2.3433494099, 1.5253431384, 0.0374688618), **CLOSE
    )
    np.testing.assert_allclose(run(plant, q, v, 20.0)[:3], (-18.6923210387, 21.6459695065, 2.3916528805), **CLOSE)


def test_sleigh_settles_at_its_limit():
    plant = quasi(systems.sleigh())
    end = run(plant, (0, 0, 0.2), (cos(0.2), sin(0.2), 1.5), 60.0)
    assert end[3] == pytest.approx(np.sqrt(1.0 + (0.5 + 0.09) * 1.5**2), abs=1e-9)


def test_vertical_disk():
    plant = quasi(systems.vertical_disk())
    q, v, u = (0, 0, 0, 0), (1.0, 0, 0.8, 4.0), (0.05, 0.1)
    np.testing.assert_allclose(observed(plant, q, v, u)["accelerations"][2:], (1.6, 0.5333333333), **CLOSE)
    np.testing.assert_allclose(run(plant, q, v, 1.0, u)[:2], (0.7430684254, 0.5984337600), **CLOSE)
    np.testing.assert_allclose(run(plant, q, v, 5.0, u)[:2], (0.1367787965, 0.5779313487), **CLOSE)


def test_rolling_disk():
    plant = quasi(systems.rolling_disk())
    q, v = (0, 0, 0, 0.2, 0), (3.0, 0, 0.5, 0, 6.0)
    seen = observed(plant, q, v)
    assert seen["accelerations"][3] == pytest.approx(6.6952307892, abs=1e-8)
    assert seen["accelerations"][1] == pytest.approx(1.5, abs=1e-9)
    assert seen["energy"] == pytest.approx(11.7900838389, abs=1e-8)
    after = (2.9626060281, -0.8862135838, -0.5575333487, 0.3608626510, 6.3162242519)
    np.testing.assert_allclose(run(plant, q, v, 1.0)[:5], after, **CLOSE)
    after = (-0.1677407927, -9.8573661313, -3.1622360764, 0.2004894798, 31.7342204703)
    np.testing.assert_allclose(run(plant, q, v, 5.0)[:5], after, **CLOSE)


def test_cart_with_one_link():
    plant = quasi(systems.cart(1))
    u = (0.3, 0.2)
    x = (0.1, -0.2, 0.4, 0, 0, 0.3, 0.5, 0.4, -0.7)
    rate = plant.derivative(0.0, x, u, (), plant.nominal())
    np.testing.assert_allclose(rate[6:], (-1.0710145400, -1.5023027588, 10.2177231307), **CLOSE)
    seen = plant.equations.observe(0.0, x, u)
    np.testing.assert_allclose(seen["accelerations"][3:5], (-7.7055398827, -13.7147509179), **CLOSE)
    assert seen["energy"] == pytest.approx(12.2268491175, abs=1e-8)
    end = plants.simulate(plant, t_end=0.5, step=STEP, initial=x, inputs={"tL": 0.3, "tR": 0.2}).states[-1]
    np.testing.assert_allclose((end[5], end[6], end[8]), (1.4509573417, 0.6075553936, 6.4968839096), **CLOSE)


def test_snakeboard():
    plant = quasi(systems.snakeboard())
    x, u = (0, 0, 0.1, 0, 0.4, -0.3, 1.0, 2.0, 0.5, -0.4), (0.1, 0.02, -0.03)
    seen = plant.equations.observe(0.0, x, u)
    wanted = (0.1363652690, -1.3482977719, -2.1154676817, 3.7821343484, 6.1154676817, -3.8845323183)
    np.testing.assert_allclose(seen["accelerations"], wanted, **CLOSE)
    assert plant.derivative(0.0, x, u, (), plant.nominal())[6] == pytest.approx(0.2449934351, abs=1e-8)
    assert seen["energy"] == pytest.approx(2.5555169015, abs=1e-8)
    end = plants.simulate(plant, t_end=1.0, step=1e-4, initial=x, inputs=dict(zip(("tps", "tb", "tf"), u, strict=True)))
    wanted = (0.4669639743, -0.0994624151, -0.4259783827, 1.7487674980, 1.8154341646, -4.7845658354)
    np.testing.assert_allclose(end.states[-1][:6], wanted, **CLOSE)


def test_trailers():
    plant = quasi(systems.trailers())
    x, u = (0, 0, 0.1, 0.3, -0.2, 1.0, 0.5), (0.2, 0.05)
    seen = plant.equations.observe(0.0, x, u)
    wanted = (-0.1846240333, 0.4839862674, 0.5, 1.8126964325, -2.2562978514)
    np.testing.assert_allclose(seen["accelerations"], wanted, **CLOSE)
    assert plant.derivative(0.0, x, u, (), plant.nominal())[5] == pytest.approx(-0.1353836795, abs=1e-8)
    end = plants.simulate(plant, t_end=5.0, step=STEP, initial=x, inputs={"Fu": 0.2, "Mz": 0.05}).states[-1]
    wanted = (0.6569395030, 1.6424288621, 8.85, 7.8978328055, 6.1255638624, 1.7710831472)
    np.testing.assert_allclose(end[:6], wanted, **CLOSE)


def test_pendulum():
    plant = quasi(systems.pendulum())
    q = (sin(2.0), -cos(2.0))
    seen = observed(plant, q, (0, 0))
    np.testing.assert_allclose(seen["accelerations"], (3.7121162395, -8.1111219603), **CLOSE)
    np.testing.assert_allclose((*seen["multipliers"], seen["energy"]), (4.0824004665, 4.0824004665), **CLOSE)
    end = run(plant, q, (0, 0), 5.0, step=1e-3)
    np.testing.assert_allclose(end, (0.9971099558, -0.0759719428, 3.1073091979), **CLOSE)


def test_double_pendulum():
    plant = quasi(systems.double_pendulum())
    a, b = 0.7, 1.1
    xa, ya = sin(a), -cos(a)
    x = (xa, ya, xa + 0.7 * sin(b), ya - 0.7 * cos(b), 0.5, -1.0)
    seen = plant.equations.observe(0.0, x)
    wanted = (-2.1407476321, -1.4762620411, -5.6930337398, -6.9124274044)
    np.testing.assert_allclose(seen["accelerations"], wanted, **CLOSE)
    assert seen["energy"] == pytest.approx(-23.2335785137, abs=1e-8)
    end = plants.simulate(plant, t_end=3.0, step=1e-4, initial=x).states[-1]
    np.testing.assert_allclose(end[:4], (0.4402500833, -0.8978751942, 0.7538254583, -1.5237110225), **CLOSE)


def test_pinned_body():
    plant = quasi(systems.pinned_body())
    q = (0.4 * sin(0.6), -0.4 * cos(0.6), 0.6)
    seen = observed(plant, q, (0.4 * cos(0.6) * 1.2, 0.4 * sin(0.6) * 1.2, 1.2), (0.5,))
    np.testing.assert_allclose(seen["accelerations"], (-2.4185589459, -0.9567272889, -6.3408292439), **CLOSE)
    np.testing.assert_allclose(seen["multipliers"], (-4.8371178916, 17.7065454223), **CLOSE)


def test_turntable():
    plant = quasi(systems.turntable())
    x = (0.3, -0.2, 0.5, 0.8, 0.6)
    assert plant.derivative(0.4, x, (), (), plant.nominal())[3] == pytest.approx(0.0141235280, abs=1e-8)
    wanted = (-0.6838264268, 1.2517358781, 0.0)
    np.testing.assert_allclose(plant.equations.observe(0.4, x)["accelerations"], wanted, **CLOSE)
    later = systems.turntable(start=0.4).build("quasi", step=STEP)
    end = plants.simulate(later, t_end=1.0, step=STEP, initial=x).states[-1]
    np.testing.assert_allclose(end[:4], (0.6150385458, 1.0690236333, 1.1, 1.3905851602), **CLOSE)


def test_rigid_body():
    mech = systems.rigid_body()
    plant = mech.build()
    x = (0, 0, 0, 0.4, 0.9, -0.3, 0, 0, 0, 0.5, -0.4, 0.8)
    a = plant.derivative(0.0, x, (), (), plant.nominal())[6:]
    np.testing.assert_allclose(a[3:], (-0.7178851309, -0.6251634328, 0.3259901067), **CLOSE)
    np.testing.assert_allclose(a[:3], (0, 0, -9.81), atol=1e-12)


def test_singular_position_is_passed():
    plant = quasi(systems.slider_crank())
    x = (0.3, 0.3, 2 * cos(0.3), 1.5)
    energies = plants.simulate(plant, t_end=20.0, step=1e-3, initial=x)
    a = energies.states[:, 0]
    assert np.floor((a / pi) - 0.5).max() >= 3  # through several singular positions
    p = plant.nominal()
    energy = plant.energy(energies.time, tuple(energies.states.T), (), (), p)
    assert np.abs(energy - energy[0]).max() < 1e-8
