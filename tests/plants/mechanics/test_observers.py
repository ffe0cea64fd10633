"""What is observed belongs to the motion as it is: M a = f + A' lam + G' mu, in every form."""

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.mechanics import Mechanism

FEEDBACK = ("baumgarte", 5.0, 7.0)


def bead(**gap):
    """A unit mass on the line x = y, under gravity."""
    mech = Mechanism("bead")
    x, y = mech.coordinates("x y", units="m")
    vx, vy = mech.rates()
    mech.kinetic((vx**2 + vy**2) / 2)
    mech.potential(9.81 * y)
    mech.position_constraint(x - y)
    if gap:
        mech.gap(y)
    return mech


def test_what_lies_on_the_floor_is_not_held_by_the_line():
    seen = bead(gap=True).build().equations.observe(0.0, (0.0, 0.0, 0.0, 0.0))
    assert seen["contact_forces"] == pytest.approx((9.81,), abs=1e-12)
    assert seen["multipliers"] == pytest.approx((0.0,), abs=1e-12)
    above = bead(gap=True).build().equations.observe(0.0, (0.5, 0.5, 0.0, 0.0))
    assert above["contact_forces"] == (0.0,)
    assert above["multipliers"] == pytest.approx((-9.81 / 2,), abs=1e-12)


def test_feedback_is_part_of_the_multipliers():
    # off the line by -0.1: gam = beta^2 phi = -2.5; lam = (-gam - A a0) / A A' = (2.5 - 9.81) / 2
    equations = bead().build("routh", stabilise=("baumgarte", 5.0, 5.0)).equations
    seen = equations.observe(0.0, (0.0, 0.1, 0.0, 0.0))
    assert seen["multipliers"] == pytest.approx(((2.5 - 9.81) / 2,), abs=1e-12)


@pytest.mark.parametrize("form", ["gauss", "maggi"])
def test_feedback_is_the_same_in_all_forms_with_multipliers(form):
    block = (0.0, (0.6, -0.9, 0.2, 0.4), (), (), systems.pendulum().build("routh").nominal())  # off the circle
    plain, wanted, found = (
        systems.pendulum().build(kind, stabilise=stabilise).derivative(*block)
        for kind, stabilise in (("routh", None), ("routh", FEEDBACK), (form, FEEDBACK))
    )
    assert np.abs(np.subtract(plain, wanted)).max() > 1.0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("made", [systems.rolling_disk, systems.double_pendulum, systems.slider_crank])
@pytest.mark.parametrize("form", ["quasi", "routh", "gauss"])
def test_reactions_are_those_of_the_multipliers(made, form):
    equations = made().build(form).equations
    block = equations.block(0.0, equations.state_from(*states(equations)))
    rows = equations.full.at(0.0, *equations.motion(*block)).jacobian
    seen = equations.observe(*block[:2])
    assert np.abs(seen["reactions"]).max() > 1e-3
    np.testing.assert_allclose(np.array(seen["multipliers"]) @ rows, seen["reactions"], rtol=0, atol=1e-10)


def states(equations):
    rng = np.random.default_rng(3)
    nominal = [quantity.nominal for quantity in equations.declared.quantities["q"]]
    return nominal + rng.uniform(-0.2, 0.2, len(nominal)), rng.uniform(-1.0, 1.0, len(nominal))
