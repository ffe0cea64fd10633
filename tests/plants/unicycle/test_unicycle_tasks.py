"""What the unicycle's situations are made of: pushes, grounds, riders, frictions; and what its motors can give."""

from __future__ import annotations

import numpy as np
import pytest

from plants.excitation import Step
from plants.unicycle import BETA0, UNICYCLE
from plants.unicycle.tasks import frictions, heavy, push, rough, slope, start

NOMINAL = {q.name: q.nominal for q in UNICYCLE.parameters}


def test_a_push_begins_and_ends_where_it_says():
    found = push(10.0, -20.0, at=1.5, lasting=0.25, height=0.3)
    assert found["Fx"] == Step(10.0, 1.5) + Step(-10.0, 1.75)
    assert found["Fy"] == Step(-20.0, 1.5) + Step(20.0, 1.75)
    assert "Fz" not in found
    assert found["hF"].level == 0.3


def test_slopes_rise_where_they_say():
    assert slope(forward=0.03)["sx"].level == 0.03
    assert slope(left=-0.02)["sy"].level == -0.02
    assert set(slope(forward=0.03)) == {"sx"}


def test_rough_ground_is_noise_of_the_path():
    """Waves of half a metre met at 1.5 m/s come three times a second; both slopes have the deviation asked for."""
    found = rough(0.03, 1.5, 0.5)
    assert set(found) == {"sx", "sy"}
    for one in found.values():
        assert one.variance == pytest.approx(0.03**2)
        assert one.frequency == pytest.approx(3.0)


def test_a_heavy_rider_is_the_body_alone():
    assert heavy(1.2) == pytest.approx({k: 1.2 * NOMINAL[k] for k in ("MB", "IBx", "IBy", "IBz")})


def test_frictions_are_those_of_the_tyre_and_of_all_bearings():
    found = frictions(0.7, 3.0)
    assert found.pop("Dcor") == pytest.approx(0.7)
    assert found == pytest.approx({k: 3.0 * NOMINAL[k] for k in ("Dg", "D1", "D2", "D3", "D4", "DTt")})


def test_starts_roll_at_their_speed():
    x = start(1.5, 0.05, 0.02)
    assert x[8] * NOMINAL["Rw"] == pytest.approx(1.5)
    assert (x[1], x[2]) == (0.05, BETA0 + 0.02)
    assert np.count_nonzero(x) == 3


def test_motors_are_limited_as_the_tyre_and_the_nominal_upset_ask():
    """Both pedals at their limit push with what 17 kg on rubber bear: twice 12.5 N m over 0.15 m, 17.1 kg times g."""
    limits = {q.name: (q.low, q.high) for q in UNICYCLE.inputs}
    assert limits == {"tau1": (-12.5, 12.5), "tau2": (-12.5, 12.5), "tau3": (-12.0, 12.0)}
    assert [(c.low, c.high) for c in UNICYCLE.channels] == [(-12.5, 12.5), (-12.0, 12.0)]
    assert 2.0 * limits["tau1"][1] / NOMINAL["Rw"] == pytest.approx(17.1 * NOMINAL["g"], rel=0.01)
