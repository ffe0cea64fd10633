"""Certificates of plants: the right closed loops, gains that move, and rules that are refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import plants
import sscq
from controllers import PID, Controller, GainTable
from plants.core.analysis.linearise import linearise
from sscq.certificates.certificate import proved
from sscq.certificates.gain_hull import GainHull, combined, hull_of
from sscq.margins.affine_loop import LinearPoint, Path, from_sample_to_sample, in_continuous_time, slots
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.sampled_loop import sample, spectral_radius

VDP = plants.get("van_der_pol")
OSCILLATOR = np.array([[3.0, 1.0, 3.0], [5.0, 2.0, 4.0], [4.0, 1.0, 5.0]])
PLACES = {"kp": 0, "ki": 1, "kd": 2}


@pytest.fixture(scope="module")
def solver():
    return pytest.importorskip("clarabel")


def point(delay=0.0, filter_time=0.0, *, measured=True, mu=1.3, q0=0.5):
    """Van der Pol about rest at q0."""
    A = np.array([[0.0, 1.0], [-1.0, mu * (1.0 - q0 * q0)]])
    path = Path("y", np.array([1.0, 0.0]), np.array([0.0, 1.0]) if measured else None, PLACES, 1.0, filter_time)
    return LinearPoint("q0", A, np.array([[0.0], [1.0]]), (path,), delay, ("q", "v"))


# ------------------------------------------------------------------------------------------------- the right matrices


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.05])
@pytest.mark.parametrize("filter_time", [0.0, 0.05])
@pytest.mark.parametrize("measured", [True, False])
def test_sampled_loops_are_those_of_the_margins(delay, filter_time, measured):
    """Two derivations of one closed loop, in different states: the same largest eigenvalue."""
    p = point(delay, filter_time, measured=measured)
    loop = from_sample_to_sample(p, 3, 0.01, slots(0.05, 0.01))  # more past commands than most delays need
    linear = LinearPlant(p.A, p.B[:, 0], p.paths[0].c, p.paths[0].c_rate)
    other = sample(linear, LoopSettings(0.01, filter_time, delay, rate_measured=measured))
    radius = np.abs(np.linalg.eigvals(loop.at(OSCILLATOR))).max(axis=1)
    # Both take exponentials of small matrices; a double eigenvalue would cost half the digits, there is none.
    np.testing.assert_allclose(radius, spectral_radius(other, OSCILLATOR), rtol=1e-10)


@pytest.mark.parametrize("filter_time", [0.0, 0.05])
def test_continuous_loops_are_those_of_the_closed_plant(filter_time):
    """The tape's derivative of plant and law together has the same poles."""
    law = PID(derivative_filter_time=filter_time)
    model = linearise(plants.close(VDP, law, OSCILLATOR[0], 0.5, parameters={"mu": 1.3}), _rest(filter_time), input=())
    mine = np.linalg.eigvals(in_continuous_time(point(filter_time=filter_time), 3).at(OSCILLATOR[0]))
    hidden = [-1.0 / filter_time] if filter_time else []  # the closed plant filters the reference's rate, too
    theirs = model.poles
    for pole in [*mine, *hidden]:
        assert np.abs(theirs - pole).min() < 1e-9 * max(1.0, abs(pole))
    assert len(theirs) == len(mine) + len(hidden)


def _rest(filter_time):
    """States of the closed plant at rest: those of the laws come in any order, and all but the integral are 0."""
    closed = plants.close(VDP, PID(derivative_filter_time=filter_time), OSCILLATOR[0], 0.5)
    return {"position": 0.5, "velocity": 0.0, **{q.name: 0.5 * (q.name == "integral") for q in closed.states[2:]}}


def test_a_delay_in_continuous_time_is_its_pade_approximation():
    """Phase of the approximation of order 2: exact to (w T)^5 / 720."""
    late, loop = 0.1, in_continuous_time(point(0.1), 3)
    s = 2.0j  # w T = 0.2: error below 5e-7
    names = list(loop.states)
    A = loop.constant.astype(complex)
    w = names.index("integral action y")
    into = A[:, w]
    states = np.linalg.solve(s * np.eye(w) - A[:w, :w], into[:w])
    plain = np.linalg.solve(s * np.eye(2) - point().A, point().B[:, 0])
    np.testing.assert_allclose(states[:2], plain * np.exp(-s * late), rtol=1e-6)


def test_gains_may_move_in_every_sample():
    """The law itself with new random gains in every sample, against the product of the matrices at these gains."""
    p, h = point(filter_time=0.05), 0.01
    loop = from_sample_to_sample(p, 3, h, 0)
    law = PID(sample_time=h, derivative_filter_time=0.05)
    both = expm(np.block([[p.A, p.B], [np.zeros((1, 3))]]) * h)
    gains = np.random.default_rng(0).uniform((2.0, 0.5, 2.0), (6.0, 3.0, 5.0), (200, 3))
    x, c, state = np.array([0.3, -0.2]), law.initial(), np.array([0.3, -0.2, 0.0, 0.0])
    for g in gains:
        u, c = law.law(0.0, 0.0, x[0], 0.0, x[1], c, tuple(g))
        x = both[:2, :2] @ x + both[:2, 2] * u
        state = loop.at(g) @ state
        np.testing.assert_allclose(state[:2], x, rtol=1e-9, atol=1e-12)
    assert loop.states == ("q", "v", "filter y", "integral action y")


def test_an_unfiltered_derivative_that_sees_the_command_is_refused_in_continuous_time():
    with pytest.raises(ValueError, match="not affine in the gains"):
        sscq.certify(plants.get("fopdt"), PID(), [[1.0, 1.0, 0.1]])


# ------------------------------------------------------------------------------------------------- plants that have one

HOLD = {
    "van_der_pol": ([[3.0, 1.0, 3.0], [5.0, 2.0, 4.0], [4.0, 1.0, 5.0]], PID(sample_time=0.01)),
    "nonlinear_inertia": ([[3.0, 1.0, 3.0], [5.0, 2.0, 4.0], [2.0, 0.5, 2.5]], PID()),
    "dc_motor": ([[0.2, 2.0, 0.005], [0.3, 3.0, 0.0075]], PID(sample_time=0.002)),
    "fopdt": ([[1.0, 1.0, 0.1], [1.5, 1.2, 0.1], [0.8, 0.9, 0.0]], PID(sample_time=0.05)),
    # Several channels, all closed at once: coupled by heat, by one force, by the pitch.
    "heater": ([[8.0, 0.1, 90.0, 5.0, 0.1, 60.0], [4.0, 0.05, 90.0, 8.0, 0.15, 60.0]], PID(sample_time=0.5)),
    "cart_pole": ([[50.0, 0.0, 14.0, 1.0, 0.1, 2.5], [60.0, 0.0, 15.0, 1.5, 0.2, 3.0]], PID(sample_time=0.01)),
    "planar_quadrotor": (
        [[6.0, 3.0, 4.0, 1.6, 0.0, 0.3, 0.1, 0.01, 0.15], [8.0, 2.0, 6.0, 1.6, 0.0, 0.35, 0.12, 0.02, 0.15]],
        PID(sample_time=0.01),
    ),
}


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("name", HOLD)
def test_sensible_gains_are_certified(name):
    """Also Van der Pol about its unstable rest; and all of the hull, in which the vertices are the worst."""
    gains, law = HOLD[name]
    plant = plants.get(name)
    found = sscq.certify(plant, law, gains, step=None if law.sample_time else 0.01)
    assert found.holds, found.text
    assert 0.0 < found.decay <= found.bound
    assert found.n_members == len(gains) * len(plant.operating_points)
    assert found.P.shape == (len(found.states),) * 2
    assert "Not covered: the plant between" in found.text
    if name == "fopdt":
        assert "delay of 0.3 s is exact" in " ".join(found.text.split())


@pytest.mark.usefixtures("solver")
def test_a_long_delay_is_approximated_and_it_is_said():
    """0.3 s in samples of 0.01 s: 30 states; the same decay as with samples of 0.05 s, about (0.750 1/s)."""
    found = sscq.certify(plants.get("fopdt"), PID(sample_time=0.01), HOLD["fopdt"][0])
    assert found.holds
    assert len(found.states) == 5
    assert found.decay == pytest.approx(0.75, rel=0.06)  # the hold is worth 0.025 s beside 0.3 s
    words = " ".join(found.text.split())
    assert "Pade approximation of order 2; the hold of a sample is left out; differences over a sample" in words


@pytest.mark.usefixtures("solver")
def test_the_hull_is_covered_and_not_more():
    p = [point(q0=q0, mu=1.0) for q0 in (0.0, 0.5, 1.0, 1.5, 2.0)]
    loops = [in_continuous_time(one, 3) for one in p]
    found = sscq.certify(VDP, PID(), OSCILLATOR)
    weights = np.random.default_rng(1).dirichlet(np.ones(3), 20)
    inside = np.concatenate([loop.at(weights @ OSCILLATOR) for loop in loops])
    assert proved(inside, found.P, found.decay)
    outside = loops[0].at([[3.0, 12.0, 3.0]])  # ki beyond (1 + kp) (kd - 1)
    assert not proved(outside, found.P, 0.0)


# --------------------------------------------------------------------------------------------- and those that have none


@pytest.mark.usefixtures("solver")
def test_an_unstable_gain_set_is_named():
    gains = np.vstack([OSCILLATOR, [3.0, 1.0, 0.5]])  # kd < 1 - q0^2 at rest
    found = sscq.certify(VDP, PID(), gains)
    assert found.verdict == "unstable member"
    assert found.worst == "gain set 4 at position 0"
    assert "No certificate can exist" in found.text
    # The slowest pair of s^3 + (kd - 1) s^2 + (1 + kp) s + ki.
    assert found.bound == pytest.approx(-np.roots([1.0, -0.5, 4.0, 1.0]).real.max())


@pytest.mark.usefixtures("solver")
def test_without_integral_action_among_others_the_integral_stands_still():
    found = sscq.certify(VDP, PID(), np.vstack([OSCILLATOR, [3.0, 0.0, 3.0]]))
    assert found.worst.startswith("gain set 4")
    assert "nothing grows there" in found.text
    assert "all of gain set 4 are not asymptotically stable" in " ".join(found.text.split())
    assert sscq.certify(VDP, PID(), [[3.0, 0.0, 3.0]]).holds  # where none has it, there is no integral


@pytest.mark.usefixtures("solver")
def test_not_found_says_where_it_would_be():
    """Slow and fast integral action about unequal plants; at most points one function would do."""
    situations = [sscq.Situation(f"mu {mu}", parameters={"mu": mu}) for mu in (1.0, 2.0)]
    found = sscq.certify(VDP, PID(), [[3.0, 1.0, 3.0], [5.0, 2.0, 4.0], [2.0, 0.5, 2.5]], situations)
    assert found.verdict == "not found"
    assert found.bound > 0.0
    assert found.n_members == 30
    assert "This does not say that the schedule is" in " ".join(found.text.split())
    assert "position 0, plant 2: none" in " ".join(found.text.split())


@pytest.mark.usefixtures("solver")
def test_gains_that_only_the_coupling_makes_unstable_are_named():
    """1 / (s + 1) [[1, c], [c, 1]] with kp = ki = k of both is k (1 + c) / s and k (1 - c) / s in sum and difference."""

    def crossed(coupling):
        return plants.Plant(
            "crossed", (plants.Quantity("a", ""), plants.Quantity("b", "")),
            inputs=(plants.Quantity("left", ""), plants.Quantity("right", "")),
            channels=(plants.Channel("a"), plants.Channel("b")),
            derivative=lambda t, x, u, w, p: (-x[0] + u[0] + coupling * u[1], -x[1] + coupling * u[0] + u[1]),
            operating_points=(plants.OperatingPoint("rest", (0.0, 0.0)),),
        )  # fmt: skip

    gains = [[0.3, 0.3, 0.0] * 2]
    assert sscq.certify(crossed(0.5), PID(), gains).bound == pytest.approx(0.3 * 0.5)
    found = sscq.certify(crossed(2.0), PID(), gains)
    assert found.verdict == "unstable member"
    assert found.bound == pytest.approx(0.3 * (1.0 - 2.0))


def test_a_plant_without_operating_points_is_refused():
    with pytest.raises(ValueError, match="no operating points"):
        sscq.certify(replace(VDP, operating_points=()), PID(), OSCILLATOR)


def vehicle(sign=1.0):
    """A speed under control, and the place behind it, which no law sees."""
    return plants.Plant(
        name="vehicle",
        states=(plants.Quantity("speed", "m/s"), plants.Quantity("place", "m")),
        inputs=(plants.Quantity("force", "N"),),
        channels=(plants.Channel(output="speed"),),
        operating_points=(plants.OperatingPoint("rest", (0.0, 0.0)),),
        derivative=lambda t, x, u, w, p: (sign * u[0] - 0.1 * x[0], x[0]),
    )


@pytest.mark.usefixtures("solver")
def test_what_no_law_sees_is_left_out_and_named():
    """The place would be an eigenvalue at 0 that no gain moves."""
    found = sscq.certify(vehicle(), PID(), [[2.0, 1.0, 0.0], [3.0, 1.0, 0.0]])
    assert found.holds
    assert found.states == ("speed", "integral action speed")
    assert "Left out: place" in " ".join(found.text.split())


@pytest.mark.usefixtures("solver")
def test_a_reverse_plant_with_a_reverse_law_is_the_same_loop():
    decays = [
        sscq.certify(vehicle(sign), PID(action=action, sample_time=0.01), [[2.0, 1.0, 0.0]]).bound
        for sign, action in ((1.0, "direct"), (-1.0, "reverse"))
    ]
    assert decays[0] == pytest.approx(decays[1], rel=1e-9)
    assert sscq.certify(vehicle(-1.0), PID(), [[2.0, 1.0, 0.0]]).verdict == "unstable member"


# -------------------------------------------------------------------------------------------------------------- hulls


def test_rows_of_a_gain_table_are_its_vertices():
    table = Controller((PID(),), GainTable("position", (0.0, 1.0), transform="square", search_scale=True))
    hull = hull_of(table, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.7])
    np.testing.assert_array_equal(hull.gains, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert hull.names == ("gains at 0", "gains at 1")
    with pytest.raises(ValueError, match="does not say which gains"):
        hull_of(table)


def test_channels_are_combined():
    parts = [GainHull(("a", "b"), [[1.0], [2.0]]), GainHull(("c", "d"), [[3.0], [4.0]])]
    hull = combined(parts, [[1.0], [3.0]], [part.corners(("k",)) for part in parts])
    assert {tuple(row) for row in hull.gains} == {(1.0, 3.0), (2.0, 3.0), (1.0, 4.0), (2.0, 4.0)}
    assert hull.names == ("a", "b", "d", "b; d")


def test_many_combinations_are_replaced_by_fewer():
    rng = np.random.default_rng(0)
    parts = [GainHull(tuple(map(str, range(30))), rng.uniform(0.0, 1.0, (30, 3))) for _ in range(2)]
    hull = combined(parts, [part.gains[0] for part in parts], [part.corners(("kp", "ki", "kd")) for part in parts])
    assert len(hull.gains) <= 2 * 30 + 8 * 8
    assert "in boxes for each channel" in hull.text
