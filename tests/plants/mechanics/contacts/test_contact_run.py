"""Event-driven motion with contacts: published instants, closed forms, and refusals."""

import numpy as np
import pytest

from plants.core.elementary import sin
from plants.mechanics import Mechanism
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.contacts.active_sets import ContactError
from plants.mechanics.contacts.blocks import contact_blocks
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.runs.event_driven import simulate_contacts
from tests.plants.mechanics.contact_systems import G, ball, bowl, box, hinged_bar, sphere

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def energy(mech, run):
    full, states = Full(mech.declared()), run.trajectory.states
    n = full.declared.n
    p = tuple(q.nominal for q in full.declared.quantities["p"])
    u = (0.0,) * len(full.declared.quantities["u"])
    return np.array([full(("energy",), 0.0, tuple(x[:n]), tuple(x[n:]), u, (), p)[0][0] for x in states])


def test_a_particle_leaves_a_sphere_where_its_weight_no_longer_holds_it():
    run = simulate_contacts(sphere(), 1.2, (np.sin(0.1), np.cos(0.1), 0.0, 0.0), **TIGHT)
    assert [event.kind for event in run.events] == ["closing", "opening"]
    (leaving,) = run.of_kind("opening")
    at = np.flatnonzero(run.time == leaving.time)[0]
    _, y, vx, vy = run.trajectory.states[at]
    assert leaving.time == pytest.approx(0.9071101, abs=2e-8)  # digits given
    assert y == pytest.approx(2.0 / 3.0 * np.cos(0.1), abs=1e-10)
    assert np.hypot(vx, vy) == pytest.approx(2.5509463, abs=5e-8)
    assert np.hypot(vx, vy) == pytest.approx(np.sqrt(G * y), rel=1e-10)  # the weight is just the centripetal force
    held = run.time <= leaving.time
    assert np.abs(run["gap_0"][held]).max() < 1e-10
    assert run["contact_force_0"].min() > -1e-10
    np.testing.assert_allclose(energy(sphere(), run), G * np.cos(0.1), rtol=1e-10)


def test_a_bouncing_ball_hits_when_the_formula_says():
    run = simulate_contacts(ball(), 6.0, **TIGHT)
    hits = np.array([event.time for event in run.of_kind("impact")])
    np.testing.assert_allclose(hits[:3], (0.4515236, 1.1739615, 1.7519117), atol=5e-8)  # digits given
    fall = np.sqrt(2.0 / G)
    exact = fall + 2.0 * fall * np.array([sum(0.8**j for j in range(1, k + 1)) for k in range(len(hits))])
    np.testing.assert_allclose(hits, exact, atol=1e-10)
    impulses = [event.impulse for event in run.of_kind("impact")[:3]]
    np.testing.assert_allclose(impulses, 0.5 * 1.8 * G * fall * 0.8 ** np.arange(3), rtol=1e-9)


def test_infinitely_many_bounces_end_in_rest():
    run = simulate_contacts(ball(), 6.0, rest_speed=1e-2)
    (rest,) = run.of_kind("closing")
    assert rest.time == run.of_kind("impact")[-1].time
    assert rest.time < np.sqrt(2.0 / G) * (1.0 + 2.0 * 0.8 / 0.2)  # where all bounces would have ended
    after = run.time > rest.time
    np.testing.assert_allclose(run["contact_force_0"][after], 0.5 * G)
    assert np.abs(run["z"][after]).max() < 1e-12


def test_energy_never_grows_and_is_kept_by_elastic_impacts():
    run = simulate_contacts(ball(restitution=1.0), 5.0, **TIGHT)
    np.testing.assert_allclose(energy(ball(), run), 0.5 * G, rtol=1e-9)
    tumbling = (0.0, 1.2, 0.3, 0.5, -2.0, 0.1)
    rolling = energy(box(), simulate_contacts(box(), 2.5, tumbling, rtol=1e-10, atol=1e-10))
    assert np.diff(rolling).max() < 1e-7 * rolling[0]


def test_a_rocking_box_comes_to_rest():
    start = (0.0, 0.3 * np.sin(0.1) + 0.5 * np.cos(0.1), 0.1, 0.0, 0.0, 0.0)
    run = simulate_contacts(box(), 2.0, start)
    np.testing.assert_allclose(run.trajectory.states[-1], (0.0, 0.5, 0.0, 0.0, 0.0, 0.0), atol=1e-8)
    np.testing.assert_allclose(run.trajectory.group("contact_forces")[-1], G, rtol=1e-6)
    assert run.trajectory.group("gaps").min() > -1e-8  # atol, and what is lost between two projections
    assert run.trajectory.group("contact_forces").min() > -1e-8


def test_a_box_tips_when_the_growing_push_passes_the_limit():
    run = simulate_contacts(box(), 0.9, inputs={"F": lambda t: 20.0 * t})
    (leaving,) = run.of_kind("opening")
    assert leaving.gap == 0
    assert leaving.time == pytest.approx(14.715 / 20.0, abs=1e-9)


def test_forces_pass_on_among_redundant_contacts_without_a_jump_of_the_motion():
    push = {"F": lambda t: 20.0 * t}
    two, three = (
        simulate_contacts(box(c), 0.9, inputs=push, **TIGHT)
        for c in (((-1, -1), (1, -1)), ((-1, -1), (0, -1), (1, -1)))
    )
    np.testing.assert_allclose(two.trajectory.states[-1], three.trajectory.states[-1], atol=1e-8)


def test_a_bar_on_a_hinge_bounces_from_its_stop_as_its_one_freedom_does():
    mech = hinged_bar()
    run = simulate_contacts(mech, 0.9, **TIGHT)
    inertia, weight = 0.1 + 2.0 * 0.16, 2.0 * G * 0.4
    falling = np.sqrt(2.0 * weight * np.sin(0.5) / inertia)
    first = run.of_kind("impact")[0]
    after = np.flatnonzero(run.time == first.time)[-1]
    assert run["om"][after] == pytest.approx(0.5 * falling, rel=1e-9)
    assert first.impulse == pytest.approx(1.5 * falling * inertia / 0.8, rel=1e-9)
    assert np.abs(run["x"] - 0.4 * np.cos(run["phi"])).max() < 1e-9


def test_drift_of_a_closed_gap_is_projected_away():
    run = simulate_contacts(bowl(), 10.0, rtol=1e-6, atol=1e-6)
    assert [event.kind for event in run.events] == ["closing"]
    assert np.abs(run["gap_0"]).max() < 5e-6  # 1e-5 without, in this run of about 5 swings


def test_a_floor_that_moves_throws_the_ball():
    mech = Mechanism("thrown")
    z = mech.coordinates("z")
    vz = mech.rates("vz", initial=2.0)
    mech.kinetic(vz**2 / 2)
    mech.potential(G * z)
    mech.gap(z - 0.2 * sin(10.0 * mech.time), restitution=0.0)
    run = simulate_contacts(mech, 0.4, **TIGHT)
    # It lies on the floor until this falls faster than the ball: 0.2 * 100 sin(10 t) = g.
    (leaving,) = run.of_kind("opening")
    assert leaving.time == pytest.approx(np.arcsin(G / 20.0) / 10.0, abs=1e-9)


def test_wrong_starts_and_names_are_refused():
    with pytest.raises(ValueError, match="violates gap 0 by -0.5"):
        simulate_contacts(ball(), 1.0, (-0.5, 0.0))
    with pytest.raises(ValueError, match="violates position constraint 0"):
        simulate_contacts(hinged_bar(), 1.0, {"x": 0.7})
    with pytest.raises(ValueError, match="no name among the inputs of mechanism 'box': 'f'"):
        simulate_contacts(box(), 1.0, inputs={"f": 1.0})
    with pytest.raises(ValueError, match="must have 1 values"):
        simulate_contacts(box(), 1.0, inputs=(1.0, 2.0))


def test_too_many_events_are_a_mistake():
    with pytest.raises(ContactError, match="more than max_events = 3; raise rest_speed"):
        simulate_contacts(ball(), 3.0, max_events=3)


def test_a_long_run_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr("plants.mechanics.runs.event_driven.SILENT", 0.0)
    simulate_contacts(ball(), 0.5)
    assert "s of 0.5 s" in capsys.readouterr().err


def test_constraints_that_are_not_linear_in_the_rates_are_refused():
    mech = ball()
    mech.velocity_constraint(mech.names.symbols["v"][0] ** 2 - 1.0, linear=False)
    for refused in (simulate_contacts, lambda m, _: contact_blocks(Full(m.declared()))):
        with pytest.raises(DeclarationError, match="linear in the rates"):
            refused(mech, 1.0)
