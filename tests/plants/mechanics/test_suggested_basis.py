"""Suggested bases: they span what the constraints allow, where a mechanism works, moving constraints included."""

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.mechanics import Mechanism
from plants.mechanics.checks import samples

MADE = [
    systems.sleigh, systems.vertical_disk, systems.rolling_disk, lambda: systems.cart(2), systems.snakeboard,
    systems.trailers, systems.pendulum, systems.double_pendulum, systems.pinned_body, systems.turntable,
    systems.slider_crank,
]  # fmt: skip


def rebuilt(mech):
    """The same mechanism with the suggested basis in place of its own."""
    mech._given._columns.clear()
    mech._given._offset = None
    basis, offset = mech.suggest_basis(), mech.suggest_offset()
    mech.basis(**basis)
    mech.basis_offset(*offset)
    return mech.build("quasi")


@pytest.mark.parametrize("made", MADE)
def test_suggested_bases_give_the_same_accelerations(made):
    own, suggested = made().build("quasi").equations, rebuilt(made()).equations
    compared = 0
    for t, x, u in samples(own, 5):
        block = own.block(t, x, u)
        q, v = own.motion(*block)
        other = suggested.block(t, suggested.state_from(q, v, t=t), u)
        np.testing.assert_allclose(suggested.motion(*other)[1], v, rtol=0, atol=1e-10)
        wanted = own.coordinate_accelerations(*block)
        # bases that are nearly dependent at a random state lose digits: 1e-8 leaves half of them
        np.testing.assert_allclose(suggested.coordinate_accelerations(*other), wanted, rtol=1e-8, atol=1e-8)
        compared += 1
    assert compared == 5


def crane():
    """Trolley, hoist, load on a rope that hangs straight down: two of the constraint's four entries are 0 there."""
    mech = Mechanism("crane")
    s, r, x, y = mech.coordinates("trolley rope x y", units="m", initial=(0.0, 2.0, 0.0, -2.0))
    ds, dr, dx, dy = mech.rates()
    mech.kinetic(5 * ds**2 + dr**2 + 2.5 * (dx**2 + dy**2))
    mech.potential(5 * 9.81 * y)
    mech.position_constraint((x - s) ** 2 + y**2 - r**2)
    return mech


def test_a_load_that_hangs_straight_down():
    mech = crane()
    mech.basis(**mech.suggest_basis())
    plant, routh = mech.build("quasi"), crane().build("routh")
    x, y = ([quantity.nominal for quantity in p.states] for p in (plant, routh))
    found, wanted = (
        e.coordinate_accelerations(*e.block(0.0, at)) for e, at in ((plant.equations, x), (routh.equations, y))
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    assert wanted[1] == pytest.approx(5 * 9.81 / 7.0)  # hoist's 2 kg and load's 5 kg on one rope


@pytest.mark.parametrize("place", np.vstack([np.eye(3), -np.eye(3)]))
def test_a_pendulum_on_a_sphere_from_each_pole(place):
    mech = Mechanism("sphere")
    q = mech.coordinates("x y z", initial=tuple(place))
    mech.kinetic(sum((v**2 for v in mech.rates()), 0.0) / 2)
    mech.potential(9.81 * q[2])
    mech.position_constraint(sum((x**2 for x in q), 0.0) - 1.0)
    mech.basis(**mech.suggest_basis())
    equations = mech.build("quasi").equations
    basis = np.array([equations.motion(*equations.block(0.0, (*place, *w)))[1] for w in np.eye(2)])
    assert np.linalg.svd(basis, compute_uv=False)[-1] > 0.1
    np.testing.assert_allclose(basis @ place, 0.0, atol=1e-14)
