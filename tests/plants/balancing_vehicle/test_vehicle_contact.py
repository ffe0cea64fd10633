"""The balancing vehicle's contact with the ground: bumps, lift-off and landing under both laws of the gaps."""

import dataclasses
import math

import numpy as np
import pytest

from plants.balancing_vehicle import (
    BALANCER,
    BALANCING_VEHICLE,
    BALANCING_VEHICLE_RIGID,
    STUDY,
    on_rigid_ground,
    standing,
)
from plants.balancing_vehicle.motion import END, TOUCHING, under
from plants.balancing_vehicle.parameters import GRAVITY, VehicleParameters
from plants.balancing_vehicle.stepping import PASSES, pushes, run
from plants.balancing_vehicle.wheels import dynamics, gaps_of
from plants.contact.gaps import PENETRATION
from tests.plants.balancing_vehicle.test_balancing_vehicle import DRY, X3, P
from tests.reference.vehicle_courses import BUMP, ONE_BUMP, energy, own, rolling_on, study

RIGID_EQUATIONS = dataclasses.replace(BALANCING_VEHICLE_RIGID, advance=None)
STILL = (0.0, 0.0)


def test_a_bump_gives_no_energy_and_lets_go_of_open_gaps():
    """The equations themselves: 4 cm under one wheel at 2 m/s, lift-off of 6 cm, landing."""
    run = study((0.0, 0.0, 0.0, 1.0), 1e-4, parameters=ONE_BUMP, initial=rolling_on(2.0))
    gap, averaging = run["gap_L"], ONE_BUMP["averaging"]
    assert gap.max() > 0.06
    present = energy(run.states[::10], ONE_BUMP)
    assert present.max() <= present[0] * (1.0 + 1e-9)
    assert present[-1] < present[0] - 3.0  # the landing costs; the body has not been lifted for good
    assert energy([rolling_on(2.0)], ONE_BUMP)[0] == present[0]
    # The mean gap is open while the wheel does not reach the ground within half the averaging time.
    closing = np.gradient(gap, run.time)
    away = gap > 0.5 * averaging * np.abs(closing) + 100.0 * averaging * averaging / 6.0  # what falls with 100 m/s^2
    assert away.sum() > 1000
    assert (run["f_n_L"][away] == 0.0).all()
    assert (run["F_t_L"][away] == 0.0).all()
    impact = -closing.min()
    assert 1e-4 < -gap.min() <= PENETRATION * averaging * impact


def test_the_step_map_gains_little_on_a_bump():
    """At 1 ms less than half a percent of the kinetic energy for a moment, of first order; the end is the equations'."""
    gains, ends = [], []
    for h in (1e-3, 5e-4):
        p = BUMP | {"averaging": 5.0 * h}
        present = energy(own((0.0, 0.0, 0.0, 1.0), h, parameters=p, initial=rolling_on(2.0)).states, p)
        gains.append(present.max() / present[0] - 1.0)
        ends.append(present[-1])
    assert gains[0] < 5e-3
    assert gains[1] < 0.6 * gains[0]
    np.testing.assert_allclose(ends, 29.11, atol=0.06)


def test_the_step_of_the_reference_path_adapts_to_contact():
    done = run(0.8, 4e-3, rolling_on(2.0), lambda t, x: (0.0, 0.0), parameters=BUMP, halvings=(0, 3))
    fine = run(0.8, 4e-3, rolling_on(2.0), lambda t, x: (0.0, 0.0), parameters=BUMP, halvings=(3, 3))
    assert done.steps < 0.8 * fine.steps == 0.8 * 1600
    assert done.halvings[:50].max() == 0  # flat ground before the bump
    assert done.halvings.max() == 3
    assert done.gaps.max() == pytest.approx(fine.gaps.max(), rel=0.03)
    assert done.states[-1, 0] == pytest.approx(fine.states[-1, 0], abs=3e-3)


def test_gaps_of_the_reference_path_are_the_plants():
    x = (0.3, 0.1, 0.36, 0.4, 0.1, 0.2, *[0.0] * 14)
    p = VehicleParameters(**(BALANCER | {"bump_L": 0.02, "bump_x": 0.1, "slope_x": 0.03}))
    found = BALANCING_VEHICLE.outputs(0.0, x, (0.0, 0.0), (1.0, 1.0, 0.0, 0.0), tuple(p))
    names = [q.name for q in BALANCING_VEHICLE.measurements]
    np.testing.assert_allclose(gaps_of(x, p), [found[names.index(f"gap_{n}")] for n in "LR"], rtol=1e-13)


def test_a_range_without_steps_is_told():
    with pytest.raises(ValueError, match="halvings 0 <= low <= high"):
        run(1.0, 4e-3, standing(), lambda t, x: (0.0, 0.0), halvings=(3, 1))


def coasting(h, parameters=BUMP, t_end=0.6, plant=BALANCING_VEHICLE_RIGID):
    """Over the bump at 2 m/s by the step map of rigid contact."""
    return study(
        (0.0, 0.0, 0.0, t_end), h, plant=plant, integrator="rk4", parameters=parameters, initial=rolling_on(2.0)
    )


@pytest.fixture(scope="module")
def landing():
    return {h: coasting(h, ONE_BUMP) for h in (1e-3, 5e-4)}


def step_loads(states, h):
    """Loads that the step map applies from each state on."""
    p = VehicleParameters(**ONE_BUMP)
    find = under(END, lambda x: pushes(dynamics(x, STILL, DRY, p), x, p, h, PASSES).forces)
    return np.array([find(tuple(x)) for x in states])


def test_rigid_contact_pushes_only_where_a_step_ends_on_the_ground(landing):
    """To terms of the third order of the step; so deep may a wheel be, too, and no deeper."""
    misses = []
    for h, done in landing.items():
        p, near = VehicleParameters(**ONE_BUMP), slice(round(0.24 / h), round(0.5 / h))
        gaps = np.array([gaps_of(tuple(x), p) for x in done.states])
        pushed = step_loads(done.states[near], h) > 0.0
        ends = gaps[near.start + 1 : near.stop + 1]
        assert 0.5 < pushed.mean() < 0.95
        assert gaps.max() > 0.06
        misses.append(np.abs(ends[pushed]).max())
        assert -gaps.min() <= misses[-1]
    assert misses[0] < 1e-6
    assert misses[1] < 0.2 * misses[0]  # an eighth


def test_rigid_contact_reports_no_force_at_an_open_gap(landing):
    done = landing[1e-3]
    for wheel in "LR":
        away = done[f"gap_{wheel}"] > TOUCHING
        for force in ("f_n", "F_t", "F_s"):
            assert (done[f"{force}_{wheel}"][away] == 0.0).all()
    assert (done["gap_L"] > TOUCHING).sum() > 100
    assert done["f_n_L"].max() > 300.0


def test_rigid_contact_gives_no_energy(landing):
    """Heights taken half a step back, where the velocities of the step map belong.

    Gains are left where the ground's curvature jumps by c, at the bump's two ends: m h^2 a (g + a / 2) / 4 with
    a = v^2 c, of second order. One end gives it.
    """
    falls, a = [], 2.0**2 * 0.02 * (2.0 * math.pi / 0.2) ** 2
    for h in (1e-3, 5e-4):
        states = coasting(h).states
        states = np.column_stack((states[:, :8] - 0.5 * h * states[:, 8:16], states[:, 8:]))
        present = energy(states, BUMP)
        falls.append(present[-1])
        assert present.max() - present[0] < 1.02 * 12.0 * h * h * a * (GRAVITY + 0.5 * a) / 4.0
        level = np.maximum.accumulate(present[: round(0.24 / h)])
        assert level[-1] - level[0] < 1e-9  # none at all before the bump
    assert falls[0] < present[0] - 5.0
    assert falls[0] == pytest.approx(falls[1], abs=0.01)
    for h, done in landing.items():
        gained = energy(done.states, ONE_BUMP).max() - energy(done.states[:1], ONE_BUMP)[0]
        assert gained < 12.0 * GRAVITY * 0.5 * h * 1.0 + 6.0 * h * h * a * a / 4.0  # with that half step, at 1 m/s


def test_the_loss_of_an_impact_is_the_work_of_the_steps_loads():
    """A fall of 1 cm on ground without friction: from rest to rest, all of m g 1 cm is lost."""
    measure = next(one for one in BALANCING_VEHICLE_RIGID.measures if one.name == "impact_loss")
    h, p, total, start = 1e-3, tuple(STUDY.values()), (0.0,), standing(0.0, STUDY)
    x, icy = (*start[:2], start[2] + 0.01, *start[3:]), (0.0, 0.0, 0.0, 0.0)
    for _ in range(60):
        total = measure.update(0.0, x, STILL, icy, p, total, h)
        x = BALANCING_VEHICLE_RIGID.advance(0.0, x, STILL, icy, p, h)
    assert x[2] == pytest.approx(start[2], abs=1e-12)
    assert measure.value(total, 0.06) == pytest.approx(12.0 * GRAVITY * 0.01, rel=1e-9)


def test_rigid_equations_load_only_wheels_on_the_ground():
    """Landing from the air at gap 0: the averaged gap's stop with its full bound of penetration."""
    course = (0.0, 0.0, 0.0, 0.6)
    done = study(course, 5e-5, plant=RIGID_EQUATIONS, integrator="rk4", parameters=ONE_BUMP, initial=rolling_on(2.0))
    gap, averaging = done["gap_L"], ONE_BUMP["averaging"]
    assert (done["f_n_L"][gap > TOUCHING] == 0.0).all()
    assert (gap > TOUCHING).sum() > 1000
    present = energy(done.states[::10], ONE_BUMP)
    assert present.max() <= present[0] * (1.0 + 1e-9)
    impact = -np.gradient(gap, done.time).min()
    assert 0.9 * PENETRATION * averaging * impact < -gap.min() <= PENETRATION * averaging * impact + 5e-5 * impact


def test_on_the_ground_both_laws_are_one():
    """A reference state, and a course from rest into sliding: drift of the gaps, of the third order, is all that differs."""
    rigid = BALANCING_VEHICLE_RIGID
    np.testing.assert_array_equal(
        rigid.derivative(0.0, X3, (2.0, 1.0), DRY, P), BALANCING_VEHICLE.derivative(0.0, X3, (2.0, 1.0), DRY, P)
    )
    one, other = study("2", 1e-3, plant=rigid, integrator="rk4", t_end=2.5), own("2", 1e-3, t_end=2.5)
    assert one["psi"][-1] > 0.1
    np.testing.assert_allclose(one.states[:, :16], other.states[:, :16], atol=1e-5)


def test_rigid_contact_with_a_step_that_adapts():
    done = run(0.6, 4e-3, rolling_on(2.0), lambda t, x: STILL, parameters=BUMP, halvings=(0, 3), law="end")
    fine = coasting(5e-4)
    assert done.halvings.max() == 3
    assert done.halvings[:50].max() == 0
    assert done.gaps.min() > -1e-5
    assert done.states[-1, 0] == pytest.approx(fine.states[-1, 0], abs=3e-3)


def test_laws_are_bound_to_blocks_and_named():
    with pytest.raises(ValueError, match="must be one of mean, end"):
        under("soft", len)
    copy = on_rigid_ground(BALANCING_VEHICLE, "copy")
    lifted = (*standing()[:2], standing()[2] + 2e-5, *standing()[3:])
    names = [q.name for q in copy.measurements]
    loads = {
        plant.name: plant.outputs(0.0, lifted, STILL, DRY, tuple(BALANCER.values()))[names.index("f_n_L")]
        for plant in (BALANCING_VEHICLE, copy, BALANCING_VEHICLE)
    }
    assert loads["copy"] == 0.0
    assert loads["balancing_vehicle"] > 10.0  # within the fall of the averaging time; the copy left its law nowhere
