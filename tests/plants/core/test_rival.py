"""Laws of a plant's own field: declared, checked, and run in the plant's own loop."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import ConstantGains, Controller, gain_names
from controllers.state_feedback import DemandLaw
from plants import Quantity, Rival, with_rival

DAMPER = Rival(
    "damper", "velocity feedback", "force against the velocity", (Quantity("d", "N s/m", 1.0, 0.0, 5.0),),
    lambda t, x, constants, p: (-constants[0] * x[1],),
)  # fmt: skip


def test_the_loop_is_the_rival_s():
    plant = with_rival(replace(plants.get("van_der_pol"), rivals=(DAMPER,)), DAMPER)
    laws = (DemandLaw(limits=(0.0, 5.0)),)
    controller = Controller(laws, ConstantGains(gain_names(laws)))
    situation = sscq.Situation(name="free", initial=(1.0, 0.0), t_end=5.0)
    seen = sscq.record(plant, controller, np.array([2.0, 0.0]), situation, step=0.01)
    q, v = 1.0, 0.0
    for _ in range(500):  # the damper's force is held over the step: rk4 of the plant, written out
        force = -2.0 * v

        def rate(q, v, force=force):
            return v, plant.nominal()[0] * (1.0 - q * q) * v - q + force

        k1 = rate(q, v)
        k2 = rate(q + 0.005 * k1[0], v + 0.005 * k1[1])
        k3 = rate(q + 0.005 * k2[0], v + 0.005 * k2[1])
        k4 = rate(q + 0.01 * k3[0], v + 0.01 * k3[1])
        q, v = (a + 0.01 / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip((q, v), k1, k2, k3, k4, strict=True))
    np.testing.assert_allclose(seen.states[-1], (q, v), rtol=1e-9)


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ((Quantity("a", "1", 0.0, 0.0, 1.0), Quantity("b", "1", 0.0, 0.0, 1.0)), "up to 1 constants .*, got 2"),
        ((Quantity("a", "1", 0.0),), "finite bounds"),
    ],
)
def test_what_cannot_be_tuned_is_refused(constants, message):
    with pytest.raises(ValueError, match=message):
        replace(plants.get("van_der_pol"), rivals=(replace(DAMPER, constants=constants),))


def test_names_must_differ():
    with pytest.raises(ValueError, match="must differ"):
        replace(plants.get("van_der_pol"), rivals=(DAMPER, DAMPER))
