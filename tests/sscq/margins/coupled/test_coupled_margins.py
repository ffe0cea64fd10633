"""Margins of several channels: one loop opened, the others closed, against python-control and known answers."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants.core.analysis.linearise import linearise
from sscq.margins.coupled.frequency_response import coupled_responses
from sscq.margins.coupled.margins import coupled_margins, coupled_penalty
from sscq.margins.coupled.sampled_loops import CoupledPlant, SampledLoops
from sscq.margins.coupled.screen import ScreenedTogether
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.margins import MarginLimits, loop_margins

H, H_CART = 0.05, 0.01
NAMES = ("sensitivity", "complementary", "phase_margin", "delay_margin")
LIMITS = MarginLimits(1.8, 0.1)


def lags(gain):
    """1 / (s + 1) times a gain matrix."""
    n = len(gain)
    return CoupledPlant(-np.eye(n), gain, np.eye(n), name="lags")


def prepared(plant, *loops, high=5.0):
    return coupled_responses([plant], loops, np.zeros(3 * len(loops)), np.full(3 * len(loops), high))


def coupled_case(seed):
    """A random stable plant of 2 or 3 channels, its loops, and gains [20, 3 n] some of which are 0."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    A = rng.normal(size=(n, n)) - 2.0 * np.eye(n)
    A -= max(0.0, np.linalg.eigvals(A).real.max() + 0.05) * np.eye(n)
    C = rng.normal(size=(m, n))
    B = rng.normal(size=(n, m))
    at_rest = np.eye(m) + 0.3 * rng.normal(size=(m, m))
    B = B @ np.linalg.solve(-C @ np.linalg.solve(A, B), at_rest)
    plant = CoupledPlant(A, B, C, C @ A, delay=H * rng.choice([0.0, 1.0, 2.0]))
    loops = tuple(LoopSettings(H, rng.choice([0.0, 0.2]), rate_measured=bool(rng.integers(2))) for _ in range(m))
    gains = rng.uniform(size=(12, 3 * m)) * np.tile([1.2, 1.2, 0.25], m)
    gains[:2, 1], gains[2:4, 2], gains[4:5, :3] = 0.0, 0.0, 0.0
    return plant, loops, gains


def opened(control, plant, loops, gains, channel):
    """One channel's loop as a state space of python-control, the others closed by feedback."""
    h, m = loops[0].sample_time, len(loops)
    rows = np.vstack([plant.C, plant.C_rate])
    sampled = control.sample_system(control.ss(plant.A, plant.B, rows, np.zeros((2 * m, m))), h)
    one = control.ss([[0.0]], [[1.0]], [[1.0]], [[0.0]], h)
    for _ in range(round(plant.delay / h)):
        sampled = sampled * control.append(*[one] * m)
    laws = []
    for loop, (kp, ki, kd) in zip(loops, gains.reshape(m, 3), strict=True):
        share = h / loop.derivative_filter_time if loop.derivative_filter_time else 1.0
        low_pass = control.ss([[1.0 - share]], [[1.0]], [[(1.0 - share) * share]], [[share]], h)
        difference = control.ss([[0.0]], [[1.0]], [[-1.0 / h]], [[1.0 / h]], h)
        integral = control.ss([[1.0]], [[1.0]], [[ki * h]], [[kp]], h)
        if loop.rate_measured:
            law = control.append(integral, kd * low_pass)
        else:
            law = control.append(integral + kd * low_pass * difference, control.ss([], [], [], [[0.0]], h))
        laws.append(control.ss([], [], [], [[1.0, 1.0]], h) * law)
    order = np.zeros((2 * m, 2 * m))  # outputs, rates -> output and rate of each channel in turn
    for i in range(m):
        order[2 * i, i] = order[2 * i + 1, m + i] = 1.0
    whole = control.append(*laws) * control.ss([], [], [], order, h) * sampled
    others = np.diag([float(i != channel) for i in range(m)])
    closed = control.feedback(whole, control.ss([], [], [], others, h))
    return control.ss(closed.A, closed.B[:, [channel]], closed.C[[channel]], closed.D[[channel]][:, [channel]], h)


def dense(L, h=H):
    """Ms, Mt, phase margin and delay margin of a stable loop: its response on a grid that is made finer where it counts."""

    def response(w):
        z = np.exp(1j * w * h)[:, None, None]
        return (L.C @ np.linalg.solve(z * np.eye(len(L.A)) - L.A, np.tile(L.B, (len(w), 1, 1))))[:, 0, 0] + L.D[0, 0]

    w = np.concatenate([[1e-6], np.geomspace(1e-3, np.pi / h, 500)])
    for _ in range(3):
        values = response(w)
        curves = np.abs(1.0 + values), np.abs(1.0 + 1.0 / np.where(values == 0.0, 1e-300, values))
        dips = [1 + np.flatnonzero((c[1:-1] < c[:-2]) & (c[1:-1] < c[2:])) for c in curves]
        unit = np.flatnonzero((np.abs(values[1:]) >= 1.0) != (np.abs(values[:-1]) >= 1.0))
        ends = [(w[k - 1], w[k + 1]) for k in np.concatenate(dips)] + [(w[k], w[k + 1]) for k in unit]
        w = np.unique(np.concatenate([w, *[np.linspace(*pair, 15) for pair in ends]]))
    values = response(w)
    at = np.flatnonzero((np.abs(values[1:]) >= 1.0) != (np.abs(values[:-1]) >= 1.0))
    lag = np.mod(np.angle(-values[at]), 2.0 * np.pi)
    delay = np.min(lag / w[at], initial=h if np.abs(values[-1]) > 1.0 else np.inf)
    phase = np.min(np.minimum(lag, 2.0 * np.pi - lag), initial=np.inf)
    return np.max(1.0 / np.abs(1.0 + values)), np.max(np.abs(values / (1.0 + values))), phase, delay


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 6, 7])
def test_against_python_control(seed):
    """Loops closed by its feedback of state spaces, the margins from a response on a fine grid."""
    control = pytest.importorskip("control")
    plant, loops, gains = coupled_case(seed)
    ours = coupled_margins(gains, prepared(plant, *loops, high=1.0))
    checked = 0
    for row, channel in [(k, i) for k in range(len(gains)) for i in range(len(loops))]:
        L = opened(control, plant, loops, gains[row], channel)
        poles = np.linalg.eigvals(L.A - L.B @ np.linalg.solve(np.eye(1) + L.D, L.C))
        unused = (gains[row].reshape(-1, 3)[:, 1] == 0.0).sum()  # integrals that nothing feeds stay where they are
        radius = np.abs(poles[np.argsort(np.abs(poles - 1.0))[unused:]]).max()
        stable = bool(ours[channel].stable[row, 0])
        assert stable == (radius < 1.0)
        if not stable:
            assert ours[channel].growth[row, 0] == pytest.approx(np.log(radius) / H, rel=1e-6)
            continue
        expected, found = dense(L), [getattr(ours[channel], name)[row, 0] for name in NAMES]
        # Cubics through responses that turn by 0.1 rad a step: a determinant of three is right to (0.3)^4 / 24 = 3e-4 of
        # its size about there; where Ms is 10, that is a part in 1 / 10 of it.
        if expected[0] < 10.0:
            np.testing.assert_allclose(
                found, expected, rtol=1e-3 + 3e-4 * expected[0], atol=1e-12, err_msg=f"row {row}, channel {channel}"
            )
            checked += 1
    assert checked > 5


# --------------------------------------------------------------------------------------------------- known answers


def test_loops_that_do_not_meet_have_the_margins_of_each_alone():
    """A lag with dead time and an oscillator, side by side in one plant; both ways interpolate, on grids of their own."""
    A = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -4.0, -0.4]])
    B, C = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 4.0]]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    loops = LoopSettings(H, delay=0.07), LoopSettings(H, 0.1, delay=0.07, rate_measured=True)
    rng = np.random.default_rng(2)
    gains = rng.uniform(size=(60, 6)) * (4.0, 2.0, 0.2, 1.0, 1.0, 0.5)
    gains[:6, 1], gains[4:12, 4], gains[20:26, 5] = 0.0, 0.0, 0.0
    found = coupled_margins(gains, prepared(CoupledPlant(A, B, C, C @ A), *loops))
    parts = [LinearPlant([[-1.0]], [1.0], [1.0]), LinearPlant(A[1:, 1:], [0.0, 4.0], [1.0, 0.0], [0.0, 1.0])]
    alone = [
        loop_margins(gains[:, 3 * i : 3 * i + 3], loop_responses([part], loop, np.zeros(3), np.full(3, 5.0)))
        for i, (part, loop) in enumerate(zip(parts, loops, strict=True))
    ]
    both = alone[0].stable & alone[1].stable
    assert 20 < both.sum() < 58
    for mine, other in zip(found, alone, strict=True):
        np.testing.assert_array_equal(mine.stable, both)
        usual = both & (other.sensitivity < 20.0)  # an error of 1e-6 of |1 + L| is more of it where it is small
        for name in (*NAMES, "gain_margin", "gain_reduction"):
            np.testing.assert_allclose(getattr(mine, name)[usual], getattr(other, name)[usual], rtol=2e-4, err_msg=name)


def test_gains_that_only_the_coupling_makes_unstable_are_refused():
    """1 / (s + 1) [[1, 2], [2, 1]] with integral action: alone each loop is as good as can be, together none can hold.

    det G(0) < 0 while the diagonal is positive (A. Niederlinski, Automatica 7 (1971) 691). With equal PI gains of
    kp = ki = k the loops decouple into k (1 + 2) / s and k (1 - 2) / s: the second grows with the rate k.
    """
    k = 0.3
    coupled = prepared(lags([[1.0, 2.0], [2.0, 1.0]]), LoopSettings(1e-3), LoopSettings(1e-3))
    gains = np.array([k, k, 0.0, k, k, 0.0])
    (alone,) = loop_responses([LinearPlant([[-1.0]], [1.0], [1.0])], LoopSettings(1e-3), np.zeros(3), np.full(3, 5.0))
    assert loop_margins(gains[:3], [alone]).sensitivity[0, 0] == pytest.approx(1.0, abs=1e-3)
    for found in coupled_margins(gains, coupled):
        assert not found.stable[0, 0]
        assert found.growth[0, 0] == pytest.approx(k, rel=1e-3)  # half a sample of lag: k h / 2 = 2e-4
        assert np.isinf(found.sensitivity[0, 0])
        assert found.delay_margin[0, 0] == 0.0
    assert (coupled_penalty(gains, coupled, LIMITS) > 2.0).all()
    weaker = prepared(lags([[1.0, 0.5], [0.5, 1.0]]), LoopSettings(1e-3), LoopSettings(1e-3))
    assert (coupled_penalty(gains, weaker, LIMITS) == 0.0).all()


def test_a_channel_at_rest_with_the_others_closed():
    """Proportional control of 1 / (s + 1) [[1, a], [b, 1]]: 1 + L_1 = 1 + k - k l a b / (1 + l) at rest."""
    a, b, k, other = 0.8, -0.6, 2.0, 3.0
    (response,) = prepared(lags([[1.0, a], [b, 1.0]]), LoopSettings(0.01), LoopSettings(0.01))
    gains = np.array([[k, 0.0, 0.0, other, 0.0, 0.0], [k, 0.0, 0.0, other, 1.0, 0.0], [k, 1.0, 0.0, other, 0.0, 0.0]])
    first, second = response.sampled.at_rest(gains).T
    np.testing.assert_allclose(first[0], k - k * other * a * b / (1.0 + other), rtol=1e-9)
    np.testing.assert_allclose(first[1], k - k * a * b, rtol=1e-9)  # integral action holds the other output
    assert first[2] == second[1] == -np.inf
    np.testing.assert_allclose(second[0], other - k * other * a * b / (1.0 + k), rtol=1e-9)


def test_one_loop_at_a_time_does_not_see_what_both_do_together():
    """Doyle's spinning satellite: each loop alone is 1 / s, and a tenth more and less gain make it unstable.

    S. Skogestad and I. Postlethwaite, Multivariable Feedback Control, 2nd ed., sec. 3.7.1: (1 + e1) (1 + e2) has to
    stay above 1 / (1 + a^2) and more; e1 = -e2 = 0.1 is unstable already for a = 10. So this is no certificate of that.
    """
    a, h = 10.0, 1e-4
    A, C = np.array([[0.0, a], [-a, 0.0]]), np.array([[1.0, a], [-a, 1.0]])
    satellite = prepared(CoupledPlant(A, np.eye(2), C), LoopSettings(h), LoopSettings(h))
    unit = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    for found in coupled_margins(unit, satellite):
        # The hold's lag of h / 2 turns a = 10: (a h) of 1 + L, a thousandth.
        assert found.sensitivity[0, 0] == pytest.approx(1.0, abs=5e-3)
        assert np.degrees(found.phase_margin[0, 0]) == pytest.approx(90.0, abs=0.2)
    assert not coupled_margins(unit * np.repeat([1.1, 0.9], 3), satellite)[0].stable[0, 0]


def test_units_of_the_channels_change_nothing():
    """Not even the frequencies that are looked at, but for rounding."""
    plant, loops, gains = coupled_case(0)
    plant, n = replace(plant, delay=2.0 * H), len(loops)
    outputs, commands, high = (
        np.array([1e7, 1e-7, 10.0])[:n],
        np.array([1.0, 50.0, 1e-3])[:n],
        np.tile([0.01, 0.01, 1e-5], n),
    )
    units = np.repeat(outputs * commands, 3)
    other = replace(plant, B=plant.B * commands, C=outputs[:, None] * plant.C, C_rate=outputs[:, None] * plant.C_rate)
    mine = coupled_responses([plant], loops, 0.0 * high, high)
    theirs = coupled_responses([other], loops, 0.0 * high, high / units)
    np.testing.assert_allclose(mine[0].frequency, theirs[0].frequency, rtol=1e-9)
    found = zip(coupled_margins(gains, mine), coupled_margins(gains / units, theirs), strict=True)
    for one, two in found:
        np.testing.assert_array_equal(one.stable, two.stable)
        assert one.stable.any()
        np.testing.assert_allclose(one.sensitivity, two.sensitivity, rtol=1e-6)
        np.testing.assert_allclose(one.delay_margin, two.delay_margin, rtol=1e-6)


def test_a_resonance_of_the_other_loop_between_two_points_of_the_grid():
    """A closed double integrator swings nearly undamped: in the first loop a peak beyond 1, a hundredth wide."""
    control = pytest.importorskip("control")
    A, B = (
        np.array([[-1.0, 0.05, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]),
    )
    plant = CoupledPlant(A, B, np.eye(2, 3), np.eye(2, 3) @ A)
    loops, gains = (LoopSettings(H), LoopSettings(H, rate_measured=True)), np.array([0.5, 0.2, 0.0, 1.0, 0.0, 0.045])
    found, expected = coupled_margins(gains, prepared(plant, *loops))[0], dense(opened(control, plant, loops, gains, 0))
    assert expected[3] < 0.8  # 7.8 s without the peak
    for name, value in zip(NAMES, expected, strict=True):
        assert getattr(found, name)[0, 0] == pytest.approx(value, rel=1e-3)


def test_a_loop_that_dips_between_two_points_of_the_grid():
    """Cart and pole: the position's |L| falls below 1 and rises again within 4 % of frequency, at another phase."""
    control = pytest.importorskip("control")
    cart = plants.get("cart_pole")
    model = linearise(cart, "upright", commands=True)
    C, rates = (np.array([model.row(getattr(c, key)) for c in cart.channels]) for key in ("output", "rate"))
    plant, loops = CoupledPlant(model.A, model.B, C, rates), (LoopSettings(H_CART, rate_measured=True),) * 2
    gains = np.array([19.94385218, 0.0, 5.69158004, 0.05483757, 0.12260257, 2.35245083])
    low, high = ([gain for c in cart.channels for gain in getattr(c, key)] for key in ("gains_low", "gains_high"))
    _, found = coupled_margins(gains, coupled_responses([plant], loops, low, high))
    expected = dense(opened(control, plant, loops, gains, 1), H_CART)
    assert expected[2] < 0.15  # 0.43 rad at the crossover beyond
    assert found.phase_margin[0, 0] == pytest.approx(expected[2], rel=1e-2)  # where Ms is 19
    assert found.delay_margin[0, 0] == pytest.approx(expected[3], rel=1e-3)


def test_four_channels():
    """Beyond three channels determinants are eliminated: four equal lags in a circle are four lags, turned."""
    shift = np.roll(np.eye(4), 1, axis=1)
    gains = np.tile([1.0, 0.5, 0.0], 4)
    found = coupled_margins(gains, prepared(lags(np.eye(4) + 0.4 * shift), *[LoopSettings(H)] * 4))
    # One channel opened: x_1 passes 0.4 g three times through closed ones, g = L / (1 + L): 1 + L_1 = 1 + L + ...
    z = np.exp(1j * np.geomspace(1e-4, np.pi / H, 20000) * H)
    lag = (1.0 - np.exp(-H)) / (z - np.exp(-H)) * (1.0 + 0.5 * H / (z - 1.0))
    closed = (1.0 + lag) ** 4 - (0.4 * lag) ** 4
    expected = np.abs((1.0 + lag) ** 3 / closed).max()
    for one in found:
        assert one.sensitivity[0, 0] == pytest.approx(max(expected, 1.0), rel=1e-4)


# --------------------------------------------------------------------------------------------- hidden modes, penalties


def test_what_no_law_sees_is_no_failure_unless_it_grows():
    """Two speeds under control, and behind the first a place that nobody holds, at rest or running away."""
    C, B = np.eye(2, 3), np.array([[1.0, 0.2], [0.1, 1.0], [0.0, 0.0]])
    gains = np.array([1.0, 0.5, 0.0, 1.0, 0.5, 0.0])
    for grows, stable in ((0.0, True), (0.2, False)):
        A = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, grows]])
        found = coupled_margins(gains, prepared(CoupledPlant(A, B, C), LoopSettings(H), LoopSettings(H)))
        assert found[0].stable[0, 0] == stable
        assert found[0].growth[0, 0] == pytest.approx(grows)


def test_a_mode_at_rest_that_a_law_sees_is_not_stable():
    """Without gains nothing holds an integrator, and integrals of one and the same output fight for ever."""
    integrators = prepared(CoupledPlant(np.zeros((2, 2)), np.eye(2), np.eye(2)), LoopSettings(H), LoopSettings(H))
    held = coupled_margins([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], integrators)
    np.testing.assert_array_equal(held[0].stable[:, 0], [True, False])
    same = prepared(CoupledPlant([[-1.0]], [[1.0, 1.0]], [[1.0], [1.0]]), LoopSettings(H), LoopSettings(H))
    held = coupled_margins([[1.0, 0.5, 0.0, 1.0, 0.5, 0.0], [1.0, 0.5, 0.0, 1.0, 0.0, 0.0]], same)
    np.testing.assert_array_equal(held[0].stable[:, 0], [False, True])


@pytest.mark.parametrize("ki", [1e-300, 1e-20, 1e-12])
def test_an_integral_too_slow_to_be_told_from_none_is_none(ki):
    """Between a rule with integral action and one without; one that can be told (1e-4) has a mode that decays."""
    responses = prepared(
        CoupledPlant(-np.eye(2), [[1.0, 0.2], [0.1, 1.0]], np.eye(2)), LoopSettings(H), LoopSettings(H)
    )
    none, slow, some = (np.array([1.0, value, 0.0, 1.0, 0.5, 0.0]) for value in (0.0, ki, 1e-4))
    found = coupled_margins([none, slow, some], responses)
    for one in found:
        assert one.stable.all()
        np.testing.assert_array_equal(one.sensitivity[1], one.sensitivity[0])
    np.testing.assert_array_equal(*coupled_penalty([none, slow], responses, LIMITS).T)
    fast = coupled_margins([1e-12, 1e-9, 0.0, 1.0, 0.5, 0.0], responses)  # all that there is of the channel
    assert not fast[0].stable.any()


def test_what_is_paid_follows_from_the_margins():
    plant, loops, gains = coupled_case(6)
    gains = np.vstack([gains, 8.0 * gains])
    responses = prepared(plant, *loops, high=1.0)
    found, paid = coupled_margins(gains, responses), coupled_penalty(gains, responses, LIMITS)
    stable = found[0].stable[:, 0]
    assert 3 < stable.sum() < 37
    for one, each in zip(found, paid, strict=True):
        expected = np.maximum(0.0, 1.0 - LIMITS.sensitivity / one.sensitivity[:, 0])
        expected += np.maximum(0.0, 1.0 - one.delay_margin[:, 0] / LIMITS.delay_margin)
        np.testing.assert_allclose(each[stable], expected[stable], rtol=1e-9, atol=1e-12)
        rate = one.growth[:, 0] / (one.growth[:, 0] + responses[0].rate)
        np.testing.assert_allclose(each[~stable], 2.0 + rate[~stable], rtol=1e-9)
    wild = coupled_penalty(np.full(gains.shape[1], np.nan), responses, LIMITS)
    np.testing.assert_array_equal(wild, 3.0)


def test_threads_change_nothing():
    plant, loops, gains = coupled_case(6)
    many = np.vstack([gains * share for share in np.linspace(0.2, 3.0, 30)])
    responses = prepared(plant, *loops, high=1.0)
    one, two = (coupled_penalty(many, responses, LIMITS, threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one[:, ::7], coupled_penalty(many[::7], responses, LIMITS))


def test_the_compiled_kernel_is_the_python_function(monkeypatch):
    """Interpreted, the very text that is compiled; products and sums are rounded once there, twice here."""
    plant, loops, gains = coupled_case(6)
    responses = prepared(plant, *loops, high=1.0)
    compiled = coupled_margins(gains[:3], responses)
    monkeypatch.setenv("SSCQ_INTERPRET", "1")
    with np.errstate(all="ignore"):
        plain = coupled_margins(gains[:3], responses)
    assert compiled[0].stable.any()
    for one, two in zip(compiled, plain, strict=True):
        for name in (*NAMES, "gain_margin", "gain_reduction"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CoupledPlant([[1.0]], [[1.0, 2.0]], [[1.0]]), "must fit together"),
        (lambda: CoupledPlant([[np.nan]], [[1.0]], [[1.0]]), "A must be finite"),
        (lambda: prepared(lags(np.eye(2)), LoopSettings(H)), "one loop for each of the 2 channels, got 1"),
        (lambda: prepared(lags(np.eye(2)), LoopSettings(H), LoopSettings(2 * H)), "one sample time and one delay"),
        (
            lambda: prepared(lags([[1.0, 0.0], [0.0, 0.0]]), LoopSettings(H), LoopSettings(H)),
            "no command of lags reaches",
        ),
        (lambda: coupled_responses([], (LoopSettings(H),), [0, 0, 0], [1, 1, 1]), "at least one operating point"),
        (
            lambda: coupled_margins([1.0, 0.0, 0.0], prepared(lags(np.eye(2)), LoopSettings(H), LoopSettings(H))),
            r"shape \[..., 6\]",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------------------------------------------ the quick look


def coupled_pair(seed):
    """The first random case from here on that has two channels, and wide gains [400, 6], some of them next to 0."""
    while True:
        plant, loops, _ = coupled_case(seed)
        if len(loops) == 2:
            break
        seed += 100
    rng = np.random.default_rng(seed)
    gains = rng.uniform(size=(400, 6)) * np.tile([2.0, 2.0, 0.3], 2)
    gains[200:] *= 10.0 ** rng.uniform(-4.0, 0.0, (200, 6))
    gains[::20, 1], gains[::40, 4], gains[1::20, 4] = 0.0, 0.0, 1e-9
    return prepared(plant, *loops), gains, float(rng.uniform(1.2, 3.0))


def without_a_look(response):
    """The same response, whose loops are told stable or not by their eigenvalues alone."""
    other = replace(response)
    vars(other)["screened"] = None
    return other


@pytest.mark.parametrize("seed", range(12))
def test_the_quick_look_at_two_loops_changes_nothing(seed):
    """With it margins are, and gain sets pay, what the whole computation tells: stability by eigenvalues."""
    responses, gains, sensitivity = coupled_pair(seed)
    margins = coupled_margins(gains, [without_a_look(one) for one in responses])
    for one, other in zip(coupled_margins(gains, responses), margins, strict=True):
        for name, value in vars(one).items():
            assert np.array_equal(value, getattr(other, name)), name
    rate = responses[0].rate
    for of_channel, paid in zip(margins, coupled_penalty(gains, responses, MarginLimits(sensitivity)), strict=True):
        violation = np.maximum(0.0, 1.0 - sensitivity / of_channel.sensitivity[:, 0])
        unstable = 3.0 - rate / (of_channel.growth[:, 0] + rate)
        np.testing.assert_allclose(paid, np.where(of_channel.stable[:, 0], violation, unstable), rtol=1e-12, atol=0.0)


def test_margins_ask_eigenvalues_of_those_alone_that_the_look_is_not_sure_of(monkeypatch):
    (response,), gains, _ = coupled_pair(0)
    asked, growth = [], SampledLoops.growth
    monkeypatch.setattr(SampledLoops, "growth", lambda self, rows: asked.append(len(rows)) or growth(self, rows))
    coupled_margins(gains, [response])
    sure = response.screened.look(gains, 1.0)[0]
    assert asked[0] == (~sure).sum() < 0.8 * len(gains)


def test_the_quick_look_at_two_loops_passes_most_of_what_keeps_the_limit():
    stable, free, sure_of_both, without = np.zeros(4)
    for seed in range(10):
        (response,), gains, sensitivity = coupled_pair(seed)
        found, far = response.screened.look(gains, 1.0 / sensitivity)
        paid = coupled_penalty(gains, [response], MarginLimits(sensitivity))
        assert (paid[:, found][far[found].T] == 0.0).all()
        assert not found[1::20].any()  # with next to no integral nothing is sure
        without += (found & far.all(axis=1))[::20].sum()
        stable += found.sum()
        free += (paid == 0.0).all(axis=0).sum()
        sure_of_both += (found & far.all(axis=1)).sum()
    assert sure_of_both > 0.5 * free > 500
    assert stable > sure_of_both
    assert without > 20


def test_loops_that_are_not_looked_at_quickly():
    """Three channels, and a mode that grows and that no law sees: no table."""
    (three,) = prepared(lags(np.eye(3)), *[LoopSettings(H)] * 3)
    assert three.screened is None
    (two,) = prepared(lags(np.eye(2)), *[LoopSettings(H)] * 2)
    assert isinstance(two.screened, ScreenedTogether)
    hidden = replace(two, sampled=replace(two.sampled, hidden_growth=0.1))
    assert hidden.screened is None
    assert (coupled_penalty(np.ones((3, 6)), [hidden], MarginLimits(1.8)) > 2.0).all()
