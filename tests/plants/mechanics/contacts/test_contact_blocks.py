"""Plants with contacts in lanes: against closed forms and the event-driven path."""

import numpy as np
import pytest

import plants
from experiments.reproduce.mechanics.systems import pendulum
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.contacts.blocks import contact_blocks, contact_forces
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.runs.event_driven import simulate_contacts
from tests.plants.mechanics.contact_systems import G, ball, box, hinged_bar, sphere

ROCKING = (0.0, 0.3 * np.sin(0.1) + 0.5 * np.cos(0.1), 0.1, 0.2, 0.0, 0.0)


@pytest.fixture(scope="module")
def box_plant():
    return box().build()


def test_a_ball_in_a_uniform_field_bounces_exactly_whatever_the_step():
    plant = ball().build()
    fall = np.sqrt(2.0 / G)
    speed, last = 0.64 * G * fall, fall * (1.0 + 1.6)
    t = 1.6
    height = speed * (t - last) - G / 2 * (t - last) ** 2  # after the second impact, on the way up and down
    for step in (8e-3, 1e-3):
        run = plants.simulate(plant, t, step)
        # The instant follows from distance, speed and acceleration at the step's end: exact for constant acceleration.
        np.testing.assert_allclose(run.states[-1], (height, speed - G * (t - last)), atol=1e-11)
        assert run["z"].min() >= 0.0


def test_a_ball_comes_to_rest_and_stays():
    run = plants.simulate(ball().build(), 6.0, 1e-3)
    np.testing.assert_allclose(run.states[-100:], 0.0, atol=1e-15)
    np.testing.assert_array_equal(run.states[-100:], run.states[-1:] + np.zeros((100, 1)))
    assert np.flatnonzero(run["z"] > 0.0)[-1] * 1e-3 > 3.8  # bounces of the formula end at 4.06 s


def test_a_ball_without_loss_keeps_its_energy_over_many_bounces():
    plant = ball(restitution=1.0).build()
    run = plants.simulate(plant, 20.0, 1e-2)
    energy = np.array([plant.energy(0.0, x, (), (), plant.nominal()) for x in run.states])
    np.testing.assert_allclose(energy, 0.5 * G, rtol=1e-10)


@pytest.mark.parametrize(
    ("mech", "options", "initial", "t_end", "events"),
    [(hinged_bar(), {"stabilise": ("baumgarte", 20.0, 20.0)}, None, 0.5, 2), (box(), {}, ROCKING, 0.15, 1)],
    ids=["bar on a hinge", "rocking box"],
)
def test_single_impacts_cost_errors_of_the_second_order(mech, options, initial, t_end, events):
    exact = simulate_contacts(mech, t_end, initial, rtol=1e-12, atol=1e-12)
    assert len(exact.of_kind("impact")) == events
    plant, steps = mech.build(**options), t_end / 200 / 2.0 ** np.arange(7)
    runs = [plants.simulate(plant, t_end, step, initial).states[-1] for step in steps]
    errors = np.abs(np.array(runs) - exact.trajectory.states[-1]).max(axis=1)
    # An impact lies anywhere in its step, so single ratios scatter; over a factor of 64 the slope is 2 or more.
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] > 1.8
    assert errors[-1] < 1e-7


def test_bounces_that_pile_up_within_steps_end_in_the_same_rest(box_plant):
    exact = simulate_contacts(box(), 0.2, ROCKING, rtol=1e-11, atol=1e-11)
    assert len(exact.of_kind("impact")) > 5  # the last within a fraction of a step
    for step in (1e-3, 2.5e-4, 5e-5):
        run = plants.simulate(box_plant, 0.2, step, ROCKING)
        # Both paths cut the bounces off, at a rebound of 1e-3 m/s and at what a step uses up: up to 1e-2 m/s for 1 ms.
        np.testing.assert_allclose(run.states[-1], exact.trajectory.states[-1], atol=1e-5)


def test_two_corners_that_hit_at_once_bounce_at_once(box_plant):
    start = (0.0, 0.7, 0.0, 0.3, 0.0, 0.0)
    exact = simulate_contacts(box(), 0.5, start, rtol=1e-12, atol=1e-12)
    assert len(exact.of_kind("impact")) == 4
    run = plants.simulate(box_plant, 0.5, 1e-3, start)
    np.testing.assert_allclose(run.states[-1], exact.trajectory.states[-1], atol=1e-11)  # a uniform field: exact


@pytest.mark.parametrize("tilt", [5e-5, 2e-4])
def test_of_two_impacts_within_one_step_the_second_waits_for_its_end(box_plant, tilt):
    """Taken together they would give another motion: 0.75 rad/s away."""
    start = (0.0, 0.7, tilt, 0.0, 0.0, 0.0)
    exact = simulate_contacts(box(), 0.25, start, rtol=1e-12, atol=1e-12)
    first, second = exact.of_kind("impact")[:2]
    assert 0.0 < second.time - first.time < 1e-4
    run = plants.simulate(box_plant, 0.25, 1e-3, start)
    assert np.abs(run.states[-1] - exact.trajectory.states[-1]).max() < 50.0 * (second.time - first.time)


def test_a_rocking_box_comes_to_rest_without_chatter(box_plant):
    run = plants.simulate(box_plant, 3.0, 1e-3, ROCKING)
    assert np.abs(run.states[-1, 4:]).max() < 1e-12
    assert abs(run["phi"][-1]) < 5e-6  # corners rest within the closed distance of 1e-6 m, 0.3 m from the centre
    assert run["x"][-1] == pytest.approx(0.6, abs=1e-12)  # nothing holds it back
    energy = np.array([box_plant.energy(0.0, x, (0.0,), (), box_plant.nominal()) for x in run.states])
    assert np.diff(energy).max() < 1e-4 * energy[0]


def test_a_pushed_box_slides_or_tips(box_plant):
    sliding = plants.simulate(box_plant, 0.5, 1e-3, inputs=(14.0,))
    np.testing.assert_allclose(sliding.states[-1], (14.0 / 16.0, 0.5, 0.0, 3.5, 0.0, 0.0), atol=1e-12)
    tipping = plants.simulate(box_plant, 0.3, 1e-4, inputs=(25.0,))
    exact = simulate_contacts(box(), 0.3, inputs=(25.0,), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(tipping.states[-1], exact.trajectory.states[-1], atol=1e-7)


def test_a_particle_leaves_the_sphere():
    start = (np.sin(0.1), np.cos(0.1), 0.0, 0.0)
    exact = simulate_contacts(sphere(), 1.2, start, rtol=1e-12, atol=1e-12).trajectory.states[-1]
    run = plants.simulate(sphere().build(), 1.2, 5e-4, start)
    np.testing.assert_allclose(run.states[-1], exact, atol=1e-5)


def test_contact_forces_are_those_of_the_reference(box_plant):
    full = Full(box().declared())
    forces = contact_forces(full)
    for push, wanted in ((5.0, (6.4766666667, 13.1433333333)), (25.0, (0.0, 25.6898360656))):
        found = forces(0.0, (0.0, 0.5, 0.0, 0.0, 0.0, 0.0), (push,), (), box_plant.nominal())
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert forces(0.0, (0.0, 0.6, 0.0, 0.0, 0.0, 0.0), (5.0,), (), box_plant.nominal()) == (0.0, 0.0)


def test_in_flight_nothing_is_touched(box_plant):
    state = (0.1, 0.9, 0.2, 0.3, -0.4, 0.5)
    assert tuple(box_plant.after_step(0.0, state, (3.0,), (), box_plant.nominal(), 1e-3)) == state


def test_compiled_steps_are_the_plain_ones(box_plant, compiled):
    rng = np.random.default_rng(0)
    n = 200
    phi = rng.uniform(-0.3, 0.3, n)
    low = 0.3 * np.abs(np.sin(phi)) + 0.5 * np.cos(phi)
    points = [
        np.zeros(n),
        low + rng.choice([0.0, -1e-3, 5e-7, 0.1], n),
        phi,
        *rng.normal(size=(3, n)),
        rng.uniform(-30, 30, n),
    ]
    points[2][:40] = 0.0
    points[1][:40] = 0.5 + rng.choice([0.0, -1e-4, 5e-7], 40)
    for array in points[3:6]:
        array[:20] = 0.0
    for block, more in ((box_plant.derivative, ()), (box_plant.after_step, (1e-3,))):
        flat = lambda *a, block=block, more=more: block(0.0, a[:6], a[6:], (), box_plant.nominal(), *more)  # noqa: E731
        kernel = compiled(flat, 7, 6)(*points)
        plain = np.array([flat(*point) for point in zip(*points, strict=True)]).T
        # Contraction and reciprocals of pivots, with W of condition up to 1e3: ten digits remain by far.
        np.testing.assert_allclose(kernel, plain, rtol=1e-10, atol=1e-10)


def test_a_lane_does_not_depend_on_its_neighbours(box_plant, compiled):
    flat = lambda *a: box_plant.after_step(0.0, a[:6], a[6:], (), box_plant.nominal(), 1e-3)  # noqa: E731
    kernel, rng = compiled(flat, 7, 6), np.random.default_rng(1)
    points = np.array([np.zeros(33), 0.5 + rng.uniform(-1e-3, 1e-3, 33), *rng.uniform(-0.1, 0.1, (5, 33))])
    together = kernel(*points)
    alone = np.hstack([kernel(*points[:, [k]]) for k in range(33)])
    np.testing.assert_array_equal(together, alone)
    assert np.any(together != points[:6])


def test_mechanisms_without_gaps_or_with_many_are_refused():
    with pytest.raises(DeclarationError, match="has no gaps"):
        contact_blocks(Full(pendulum().declared()))
    with pytest.raises(DeclarationError, match="at most 2 gaps, got 3"):
        box(((-1, -1), (0, -1), (1, -1))).build()


def test_projection_holds_two_sided_constraints_beside_contacts():
    exact = simulate_contacts(hinged_bar(), 0.5, rtol=1e-12, atol=1e-12)
    run = plants.simulate(hinged_bar().build(stabilise="project"), 0.5, 1e-3)
    x, y, phi, vx, vy, om = run.states.T
    assert np.abs(x - 0.4 * np.cos(phi)).max() < 1e-12
    assert np.abs(vx + 0.4 * om * np.sin(phi)).max() < 1e-12
    np.testing.assert_allclose(run.states[-1], exact.trajectory.states[-1], atol=2e-5)  # second order, h = 1 ms
    assert (y + 0.4 * np.sin(phi)).min() > -1e-9
    assert np.abs(vy - 0.4 * om * np.cos(phi)).max() < 1e-12


@pytest.mark.parametrize("tilt", [0.0, 0.05])
def test_what_has_sunk_in_is_lifted_the_shortest_way(box_plant, tilt):
    low = 0.3 * np.sin(tilt) + 0.5 * np.cos(tilt)
    state = (0.0, low - 1e-4, tilt, 0.0, 0.0, 0.0)
    lifted = np.array(box_plant.after_step(0.0, state, (0.0,), (), box_plant.nominal(), 1e-3), float)
    at = Full(box().declared()).at(0.0, lifted[:3], lifted[3:])
    assert abs(at.gaps.min()) < 1e-8  # one linear step: the rest is of the second order, (1e-4)^2
    moved = at.mass @ (lifted[:3] - state[:3])
    forces, *_ = np.linalg.lstsq(at.gap_jacobian.T, moved, rcond=None)
    assert np.linalg.norm(at.gap_jacobian.T @ forces - moved) < 1e-7  # along M^-1 G'
