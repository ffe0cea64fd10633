"""Margins against other people's code, formulas, eigenvalues and a plain simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize_scalar

from sscq.margins import screen
from sscq.margins.frequency_response import loop_responses, loop_transfer
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.margins import MarginLimits, loop_margins, penalty, penalty_of_each
from sscq.margins.sampled_loop import sample, spectral_radius

INTEGRATOR = LinearPlant([[0.0]], [1.0], [1.0], name="integrator")
LAG = LinearPlant([[-1.0]], [1.0], [1.0], delay=0.3, name="first order plus dead time")
MEASURED = LoopSettings(0.01, derivative_filter_time=0.05, delay=0.02, rate_measured=True)
BOX = ((0.0, 0.0, 0.0), (20.0, 10.0, 10.0))


def margins_of(gains, plant, loop, high):
    """Margins of one plant in the box from 0 to `high`."""
    return loop_margins(gains, loop_responses([plant], loop, (0, 0, 0), high))


def van_der_pol(q0):
    return LinearPlant([[0.0, 1.0], [-1.0, 1.0 - q0 * q0]], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], name=f"q0 = {q0}")


def random_plant(rng):
    """One to five states: lags, integrators, unstable and lightly damped modes, zeros, dead time; any coordinates."""
    n = int(rng.integers(1, 6))
    poles = []
    while len(poles) < n:
        size, kind = 10 ** rng.uniform(-1.0, 1.2), rng.integers(4)
        if kind < 2:
            poles.append((-size, rng.choice([0.0, 0.3 * size]))[kind])
        elif len(poles) < n - 1:
            damping = rng.choice([0.5, 0.9, 0.1, 1e-2, 0.0, -0.1])
            pole = size * (-damping + 1j * np.sqrt(1.0 - damping**2))
            poles += [pole, pole.conjugate()]
    polynomial = np.poly(poles).real
    A, b, c = np.eye(n, k=1), np.eye(n)[-1], np.zeros(n)
    A[-1] = -polynomial[:0:-1]
    zeros = -(10 ** rng.uniform(-0.5, 1.5, int(rng.integers(min(n, 3)))))
    c[: len(zeros) + 1] = np.atleast_1d(np.poly(zeros))[::-1] * np.abs(polynomial[polynomial != 0.0][-1])
    T = rng.normal(size=(n, n))
    inverse = np.linalg.inv(T)
    delay = rng.choice([0.0, rng.uniform(0.0, 0.3)])
    return LinearPlant(T @ A @ inverse, T @ b, c @ inverse, c @ A @ inverse, delay=delay)


def random_case(seed, n=40):
    """Loop, gains [n, 3] (some without integral or derivative part) and responses."""
    rng = np.random.default_rng(seed)
    h = 10 ** rng.uniform(-2.5, -1.0)
    loop = LoopSettings(
        h,
        derivative_filter_time=rng.choice([0.0, 1.0, 3.0, 10.0]) * h,
        delay=rng.choice([0.0, rng.uniform(0.0, 0.1)]),
        rate_measured=bool(rng.integers(2)),
    )
    high = 10 ** rng.uniform(-1.0, 1.5, 3)
    gains = rng.uniform(size=(n, 3)) * high
    gains[: n // 8, 1], gains[n // 8 : n // 4, 2] = 0.0, 0.0
    return loop, gains, loop_responses([random_plant(rng)], loop, np.zeros(3), high)


def dense(response, gains):
    """L on a fine grid that is made finer still about the peaks of 1 / |1 + L|."""
    top = np.pi / response.sampled.loop.sample_time
    w = np.geomspace(0.3 * response.frequency[0], top, 4000)
    for _ in range(4):
        w = w[(np.abs(w[:, None] - np.abs(response.sampled.poles.imag)) > 1e-9 * w[:, None]).all(axis=1)]
        L = gains @ loop_transfer(response.sampled, 1j * w)
        S = 1.0 / np.abs(1.0 + L)
        peaks = 1 + np.flatnonzero((S[1:-1] >= S[:-2]) & (S[1:-1] >= S[2:]))
        w = np.unique(np.concatenate([w, *[np.linspace(w[k - 1], w[k + 1], 30) for k in peaks]]))
    return gains @ loop_transfer(response.sampled, 1j * w)


# ------------------------------------------------------------------------------------------------------- stability


@pytest.mark.parametrize("seed", range(60))
def test_turns_count_what_eigenvalues_find(seed):
    loop, gains, (response,) = random_case(seed)
    radius = spectral_radius(response.sampled, gains)
    margins = loop_margins(gains, [response])
    clear = np.abs(radius - 1.0) > 1e-10  # rounding of eigenvalues near 1
    np.testing.assert_array_equal(margins.stable[clear, 0], radius[clear] < 1.0)
    rate, exact = margins.growth[:, 0], np.log(radius) / loop.sample_time
    known = ~margins.stable[:, 0] & (exact > response.growth[0]) & (exact < response.growth[-1])
    spacing = response.growth[1] / response.growth[0]
    assert np.all(np.abs(np.log(rate[known] / exact[known])) < 1.05 * np.log(spacing))  # 1.05: zeros beside a circle
    assert np.all(rate[margins.stable[:, 0]] == 0.0)


def simulate(plant, loop, gains, n):
    """Largest output of the last tenth over that of the first, from a plain sub-sampled simulation of loop and law."""
    parts = 20
    late = round((plant.delay + loop.delay) / loop.sample_time * parts)
    step = expm(np.block([[plant.A, plant.b[:, None]], [np.zeros((1, len(plant.b) + 1))]]) * loop.sample_time / parts)
    x = np.ones(len(plant.b))
    kp, ki, kd = gains
    commands, integral, filtered, error_before, outputs = [0.0] * (late + 1), 0.0, 0.0, -plant.c @ x, []
    for _ in range(n):
        error = -plant.c @ x
        rate = -plant.c_rate @ x if loop.rate_measured else (error - error_before) / loop.sample_time
        filtered += loop.filter_share * (rate - filtered)
        command = kp * error + integral + kd * filtered
        integral, error_before = integral + loop.sample_time * ki * error, error
        for _ in range(parts):
            commands = [*commands, command][-late - 1 :]
            x = (step @ np.append(x, commands[0]))[:-1]
        outputs.append(abs(error))
    return max(outputs[-n // 10 :]) / max(outputs[: n // 10])


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.13])  # none, whole samples and a fraction of one
def test_simulation_decays_or_grows_as_said(measured, delay):
    rng = np.random.default_rng(8)
    plant = van_der_pol(0.3)
    loop = LoopSettings(0.05, derivative_filter_time=0.1, delay=delay, rate_measured=measured)
    gains = rng.uniform(0.0, (8.0, 4.0, 6.0), (12, 3))
    response = loop_responses([plant], loop, (0, 0, 0), (8.0, 4.0, 6.0))
    margins = loop_margins(gains, response)
    radius = spectral_radius(response[0].sampled, gains)
    assert 0 < margins.stable.sum() < len(gains)
    for row, stable, root in zip(gains, margins.stable[:, 0], radius, strict=True):
        ratio = simulate(plant, loop, row, 800)
        if abs(800 * np.log(root)) > 8.0:  # else neither clearly grows nor decays in 800 samples
            assert (ratio < 1.0) == stable
            # 720 samples between the windows; a beat of two modes and the start leave a factor of 30
            assert abs(np.log(ratio) - 720 * np.log(root)) < max(3.4, 0.1 * 720 * abs(np.log(root)))


def test_modes_that_the_loop_cannot_see():
    """The position behind a speed loop is at rest, not unstable; an unstable mode behind it is not hidden."""
    speed_loop, gains = LoopSettings(0.01), np.array([[2.0, 1.0, 0.0]])
    alone = LinearPlant([[-0.5]], [1.0], [1.0])
    behind = [LinearPlant([[0.0, 1.0], [0.0, -0.5]], [0.0, 1.0], [0.0, 1.0]), None]
    behind[1] = LinearPlant([[0.1, 1.0], [0.0, -0.5]], [0.0, 1.0], [0.0, 1.0])
    found = [margins_of(gains, p, speed_loop, (5, 5, 5)) for p in (alone, *behind)]
    assert [bool(m.stable[0, 0]) for m in found] == [True, True, False]
    assert found[1].sensitivity[0, 0] == pytest.approx(found[0].sensitivity[0, 0], rel=1e-6)
    assert found[2].growth[0, 0] == pytest.approx(0.1)
    with pytest.raises(ValueError, match="does not reach"):
        sample(LinearPlant(np.diag([-1.0, -2.0]), [1.0, 0.0], [0.0, 1.0]), speed_loop)


# --------------------------------------------------------------------------------------------------------- margins


@pytest.mark.parametrize("seed", range(100, 130))
def test_peaks_on_a_dense_grid(seed):
    _, gains, (response,) = random_case(seed, n=24)
    margins = loop_margins(gains, [response])
    for row in np.flatnonzero(margins.stable[:, 0]):
        L = dense(response, gains[row])
        S, T = np.max(1.0 / np.abs(1.0 + L)), np.max(np.abs(L / (1.0 + L)))
        if S < 100.0:  # cubics between grid points leave up to 5e-5 in L
            assert margins.sensitivity[row, 0] == pytest.approx(S, rel=5e-3)
            if margins.complementary[row, 0] > 1.001:  # else the largest value is at rest, below the dense grid
                assert margins.complementary[row, 0] == pytest.approx(T, rel=5e-3)


@pytest.mark.parametrize("seed", range(200, 230))
def test_gain_margins_by_eigenvalues(seed):
    """Times the margin, a hair less is stable and a hair more is not."""
    _, gains, (response,) = random_case(seed)
    margins = loop_margins(gains, [response])
    for factor, values in ((1.0, margins.gain_margin[:, 0]), (-1.0, margins.gain_reduction[:, 0])):
        use = margins.stable[:, 0] & np.isfinite(values) & (values < 100.0) & (margins.sensitivity[:, 0] < 50.0)
        inside = spectral_radius(response.sampled, gains[use] * (values[use] ** factor * 0.99**factor)[:, None])
        beyond = spectral_radius(response.sampled, gains[use] * (values[use] ** factor * 1.01**factor)[:, None])
        assert np.all(inside[values[use] > 1.01] < 1.0)
        assert np.all(beyond >= 1.0)


@pytest.mark.parametrize("seed", range(300, 330))
def test_delay_margin_by_eigenvalues(seed):
    """Whole samples of delay up to the margin keep the loop stable, one more does not."""
    loop, gains, (response,) = random_case(seed)
    margins = loop_margins(gains, [response])
    samples = np.minimum(margins.delay_margin[:, 0] / loop.sample_time, 1e3)
    use = margins.stable[:, 0] & (samples < 40.0) & (np.abs(samples - np.round(samples)) > 0.02)
    for row in np.flatnonzero(use)[:6]:
        for more, stable in ((np.floor(samples[row]), True), (np.ceil(samples[row]), False)):
            late = replace(response.sampled, samples=response.sampled.samples + int(more))
            assert (spectral_radius(late, gains[row]) < 1.0) == stable


def test_against_python_control():
    control = pytest.importorskip("control")
    rng = np.random.default_rng(3)
    checked = 0
    for _ in range(30):
        h, natural, damping = 0.2, 10 ** rng.uniform(-0.3, 0.5), rng.uniform(-0.3, 1.5)
        A = [[0.0, 1.0], [-(natural**2) * rng.choice([1.0, -0.5]), -2.0 * damping * natural]]
        plant = LinearPlant(A, [0.0, natural**2], [1.0, 0.0])
        (kp, ki, kd), tau = rng.uniform(0.0, (4.0, 3.0, 2.0)), 0.4
        z = control.tf("z")
        z.dt = h
        P = control.ss2tf(control.sample_system(control.ss(A, [[0.0], [natural**2]], [[1.0, 0.0]], 0.0), h))
        C = kp + ki * h / (z - 1) + kd * (h / tau * z / (z - 1 + h / tau)) * (z - 1) / (h * z)
        L = C * P
        ours = margins_of([kp, ki, kd], plant, LoopSettings(h, tau), (4.0, 3.0, 2.0))
        if not ours.stable[0, 0]:
            assert np.abs(np.roots(np.polyadd(L.num[0][0], L.den[0][0]))).max() > 1.0
            continue
        # its polynomials in z are inaccurate by its own warning, its splines through a response are not
        response = control.frd(L, np.geomspace(1e-3, 0.9999 * np.pi / h, 2000), smooth=True)
        gm, pm, sm, _, w_pm, _ = control.stability_margins(response, returnall=True)
        lag = np.deg2rad(np.mod(pm, 360.0))
        assert ours.sensitivity[0, 0] == pytest.approx(1.0 / np.min(sm), rel=1e-3)
        assert ours.gain_margin[0, 0] == pytest.approx(np.min(gm[gm > 1.0], initial=np.inf), rel=1e-3)
        assert ours.gain_reduction[0, 0] == pytest.approx(
            np.min(1.0 / gm[(gm < 1.0) & (gm > 0)], initial=np.inf), rel=1e-3
        )
        assert ours.phase_margin[0, 0] == pytest.approx(
            np.min(np.minimum(lag, 2 * np.pi - lag), initial=np.inf), rel=1e-3
        )
        assert ours.delay_margin[0, 0] == pytest.approx(np.min(lag / w_pm, initial=np.inf), rel=1e-3)
        checked += 1
    assert checked > 8


@pytest.mark.parametrize("kp", [0.3, 4.0, 15.0])
def test_integrator_with_proportional_control(kp):
    """L = kp h / (z - 1): pole 1 - kp h, everything in closed form."""
    h = 0.1
    margins = margins_of([kp, 0.0, 0.0], INTEGRATOR, LoopSettings(h), (20, 1, 1))
    crossover = 2.0 / h * np.arcsin(0.5 * kp * h)
    assert margins.stable[0, 0]
    assert margins.sensitivity[0, 0] == pytest.approx(1.0 / (1.0 - 0.5 * kp * h), rel=1e-6)
    assert margins.gain_margin[0, 0] == pytest.approx(2.0 / (kp * h), rel=1e-6)
    assert margins.gain_reduction[0, 0] == np.inf
    assert margins.phase_margin[0, 0] == pytest.approx(0.5 * (np.pi - crossover * h), rel=1e-4)
    assert margins.delay_margin[0, 0] == pytest.approx(0.5 * (np.pi - crossover * h) / crossover, rel=1e-4)
    assert not margins_of([21.0, 0.0, 0.0], INTEGRATOR, LoopSettings(h), (25, 1, 1)).stable[0, 0]


def test_unstable_lag_needs_gain():
    """1 / (s - 1) with gain 3, short samples: S = (s - 1) / (s + 2), so Ms = 1; a third of the gain is too little."""
    response = loop_responses([LinearPlant([[1.0]], [1.0], [1.0])], LoopSettings(1e-3), (0, 0, 0), (10, 1, 1))
    margins = loop_margins([[3.0, 0.0, 0.0], [0.9, 0.0, 0.0]], response)
    assert margins.stable[:, 0].tolist() == [True, False]
    assert margins.gain_reduction[0, 0] == pytest.approx(3.0, rel=1e-6)
    assert margins.delay_margin[0, 0] == pytest.approx(np.arctan(np.sqrt(8.0)) / np.sqrt(8.0), abs=1e-3)
    assert margins.growth[1, 0] == pytest.approx(0.1, rel=0.3)
    assert (margins.sensitivity[1, 0], margins.gain_margin[1, 0], margins.delay_margin[1, 0]) == (np.inf, 0.0, 0.0)


def test_simc_on_first_order_plus_dead_time():
    """Skogestad's tuning with closed-loop time constant = dead time: L = e^(-0.3 s) / (0.6 s), so Ms = 1.59."""
    gain = 1.0 / 0.6
    peak = minimize_scalar(lambda w: abs(1.0 + np.exp(-0.3j * w) / (0.6j * w)), bounds=(1.0, 8.0), method="bounded").fun
    margins = margins_of([gain, gain, 0.0], LAG, LoopSettings(1e-3), (5, 5, 1))
    # half a sample of hold against 0.3 s of dead time: 2e-3
    assert 1.0 / peak == pytest.approx(1.59, abs=0.005)
    assert margins.sensitivity[0, 0] == pytest.approx(1.0 / peak, rel=3e-3)
    assert margins.gain_margin[0, 0] == pytest.approx(np.pi, rel=3e-3)
    assert margins.phase_margin[0, 0] == pytest.approx(0.5 * np.pi - 0.5, rel=3e-3)
    assert margins.delay_margin[0, 0] == pytest.approx(0.6 * (0.5 * np.pi - 0.5), rel=3e-3)


def test_no_control_at_all():
    margins = loop_margins(np.zeros(3), loop_responses([LAG], LoopSettings(0.01), (0, 0, 0), (1, 1, 1)))
    assert margins.stable[0, 0]
    assert (margins.sensitivity[0, 0], margins.complementary[0, 0], margins.delay_margin[0, 0]) == (1.0, 0.0, np.inf)


def test_a_reverse_plant_is_the_mirror():
    other = LinearPlant(LAG.A, -LAG.b, LAG.c, delay=LAG.delay)
    gains = [[1.0, 0.5, 0.2], [9.0, 1.0, 0.0]]
    direct = margins_of(gains, LAG, LoopSettings(0.01), (9, 9, 9))
    reverse = margins_of(gains, other, LoopSettings(0.01, action="reverse"), (9, 9, 9))
    np.testing.assert_allclose(reverse.sensitivity, direct.sensitivity, rtol=1e-12)
    assert direct.stable[:, 0].tolist() == reverse.stable[:, 0].tolist() == [True, False]


def test_worst_names_its_place():
    points = [van_der_pol(q0) for q0 in (0.0, 1.0, 2.0)]
    gains = np.array([[3.0, 1.0, 3.0], [6.0, 3.0, 4.0], [1.0, 0.2, 1.5]])
    table = loop_margins(gains, loop_responses(points, MEASURED, *BOX))
    worst = table.worst()
    assert worst.stable == table.stable.all()
    assert worst.sensitivity.value == table.sensitivity.max()
    column = [p.name for p in points].index(worst.delay_margin.operating_point)
    assert table.delay_margin[worst.delay_margin.gain_set, column] == table.delay_margin.min()
    assert "delay_margin" in str(worst)
    assert worst.sensitivity.operating_point in str(worst)


# --------------------------------------------------------------------------------------------- penalty of a search


def test_penalty_is_the_violation_where_stable():
    limits, points = MarginLimits(1.5, 0.1), [van_der_pol(q0) for q0 in (0.0, 1.0)]
    responses = loop_responses(points, MEASURED, *BOX)
    gains = np.random.default_rng(1).uniform(*BOX, (300, 3))
    table = loop_margins(gains, responses)
    by_hand = np.maximum(0.0, 1.0 - 1.5 / table.sensitivity) + np.maximum(0.0, 1.0 - table.delay_margin / 0.1)
    everywhere = table.stable.all(axis=1)
    paid = penalty(gains, responses, limits)
    np.testing.assert_allclose(paid[everywhere], by_hand.sum(axis=1)[everywhere], rtol=1e-12)
    assert np.all(paid[~everywhere] >= 2.0)
    assert np.all(paid < 6.0)
    kept = (table.sensitivity <= 1.5).all(axis=1) & (table.delay_margin >= 0.1).all(axis=1)
    np.testing.assert_array_equal(paid == 0.0, kept)
    np.testing.assert_array_equal(penalty(gains.reshape(10, 30, 3), responses, limits), paid.reshape(10, 30))


def test_penalty_has_a_slope_through_the_boundary_of_stability():
    """Less and less damping on the unstable oscillator, from good to far beyond: the penalty never falls."""
    responses = loop_responses([van_der_pol(0.0)], MEASURED, *BOX)
    gains = np.stack([np.full(400, 3.0), np.full(400, 0.5), np.linspace(4.0, 0.0, 400)], axis=1)
    paid = penalty(gains, responses, MarginLimits(1.4, 0.3))
    stable = loop_margins(gains, responses).stable[:, 0]
    last = np.flatnonzero(stable)[-1]
    assert np.all(np.diff(paid[np.argmin(paid) :]) > -2e-3)  # growth rates are interpolated
    assert paid[last] == pytest.approx(paid[last + 1], abs=0.1)
    assert paid[-1] > paid[last + 1] + 0.1


def test_penalty_survives_any_genome():
    responses = loop_responses([van_der_pol(0.0), van_der_pol(1.0)], MEASURED, *BOX)
    gains = np.array([[np.nan, 1.0, 1.0], [np.inf, 0.0, 0.0], [1e200, 1e200, 1e200], [1e30, -1e30, 1e30], [-5, -5, -5]])
    paid = penalty(gains, responses, MarginLimits())
    assert np.all(np.isfinite(paid))
    assert np.all((paid > 2.0) & (paid <= 6.0))
    assert paid[0] == paid[1] == 6.0


def test_gains_alone_or_together_give_the_same_bits():
    responses = loop_responses([van_der_pol(0.0), van_der_pol(1.0)], MEASURED, *BOX)
    gains = np.random.default_rng(1).uniform(*BOX, (50, 3))
    gains.setflags(write=False)
    alone = [penalty(row, responses, MarginLimits()) for row in gains]
    np.testing.assert_array_equal(penalty(gains, responses, MarginLimits()), alone)
    for threads in (1, 2, 3):
        many = penalty(np.repeat(gains, 60, axis=0), responses, MarginLimits(), threads)
        np.testing.assert_array_equal(many, np.repeat(alone, 60))


@pytest.mark.parametrize("seed", range(40))
def test_the_quick_look_changes_no_bit(seed):
    """What is passed by the quick look pays nothing by the whole computation, and most of what pays nothing is."""
    _, gains, responses = random_case(seed, 400)
    gains[200:] *= 10.0 ** np.random.default_rng(seed).uniform(-3.0, 0.0, (200, 3))
    limits = MarginLimits(float(np.random.default_rng(seed).uniform(1.2, 3.0)))
    table = loop_margins(gains, responses)
    violation = np.maximum(0.0, 1.0 - limits.sensitivity / table.sensitivity[:, 0])
    unstable = 3.0 - responses[0].rate / (table.growth[:, 0] + responses[0].rate)
    paid = penalty(gains, responses, limits)
    np.testing.assert_array_equal(paid, np.where(table.stable[:, 0], violation, unstable))


def test_the_quick_look_passes_most_of_what_keeps_the_limit():
    responses = loop_responses([van_der_pol(0.0)], MEASURED, *BOX)
    gains = np.array([4.0, 1.0, 4.0]) + np.random.default_rng(3).uniform(-1.0, 1.0, (400, 3))
    (sure,) = screen.Screened.of(responses).kept(gains, 1.0 / 1.8)
    free = penalty(gains, responses, MarginLimits(1.8)) == 0.0
    assert free.mean() > 0.5
    assert not sure[~free].any()
    assert sure.sum() > 0.8 * free.sum()


def test_several_loops_are_looked_at_as_each_alone():
    """Of grids of different lengths; a loop with a hidden mode that grows is never sure."""
    responses = loop_responses([van_der_pol(0.0), van_der_pol(1.5)], MEASURED, *BOX)
    hidden = replace(responses[0], sampled=replace(responses[0].sampled, hidden_growth=0.1))
    gains = np.array([4.0, 1.0, 4.0]) + np.random.default_rng(3).uniform(-3.0, 3.0, (37, 3))
    together = screen.Screened.of([responses[0], hidden, responses[1]]).kept(gains, 1.0 / 1.8)
    alone = [screen.Screened.of([one]).kept(gains, 1.0 / 1.8)[0] for one in responses]
    np.testing.assert_array_equal(together, [alone[0], np.zeros(37, bool), alone[1]])
    assert all(0 < found.sum() < 37 for found in alone)


@pytest.mark.parametrize("limits", [MarginLimits(1.8), MarginLimits(1.8, 0.05)])
def test_points_with_gains_of_their_own_pay_as_each_alone(limits):
    """To the bit, for any number of threads; among them unstable loops, numbers that are none and a hidden mode."""
    responses = loop_responses([van_der_pol(0.0), van_der_pol(1.5)], MEASURED, *BOX)
    responses = (*responses, replace(responses[0], sampled=replace(responses[0].sampled, hidden_growth=0.1)))
    gains = np.array([4.0, 1.0, 4.0]) + np.random.default_rng(3).uniform(-4.0, 4.0, (3, 37, 3))
    gains[1, 5, 0], gains[0, 7, 2] = np.nan, np.inf
    alone = [penalty(own, [response], limits) for own, response in zip(gains, responses, strict=True)]
    for threads in (1, 2):
        np.testing.assert_array_equal(penalty_of_each(gains, responses, limits, threads), alone)
    assert len(np.unique(alone)) > 30


def test_why_vertices_prove_nothing():
    """Van der Pol at rest: ki < (1 + kp) (kd - 1) holds at two corners (22 < 25, 0 < 0.02), not between (11 > 7.5)."""
    corners = np.array([[4.0, 22.0, 6.0], [0.0, 0.0, 1.02]])
    responses = loop_responses([van_der_pol(0.0)], LoopSettings(2e-4, rate_measured=True), (0, 0, 0), (5, 25, 7))
    assert loop_margins(corners, responses).stable.all()
    assert not loop_margins(corners.mean(axis=0), responses).stable.any()


# ---------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearPlant([[1.0, 2.0]], [1.0], [1.0]), "A must be a square matrix"),
        (lambda: LinearPlant([[1.0]], [1.0, 2.0], [1.0]), "b must have 1 entries"),
        (lambda: LinearPlant([[np.nan]], [1.0], [1.0]), "A must be finite"),
        (lambda: LinearPlant([[1.0]], [1.0], [1.0], delay=-1.0), "delay must be"),
        (lambda: LoopSettings(0.0), "sample_time must be"),
        (
            lambda: LoopSettings(0.1, derivative_filter_time=0.05),
            "derivative_filter_time must be 0 or at least one sample",
        ),
        (lambda: LoopSettings(0.1, action="up"), "'direct' or 'reverse', got 'up'"),
        (lambda: MarginLimits(sensitivity=1.0), "sensitivity must be above 1, got 1.0"),
        (lambda: MarginLimits(delay_margin=-0.1), "delay_margin must be"),
        (lambda: MarginLimits(transient=1.0), "transient must be above 1, got 1.0"),
        (lambda: loop_responses([], LoopSettings(0.1), (0, 0, 0), (1, 1, 1)), "at least one operating point"),
        (lambda: loop_responses([LAG], LoopSettings(0.1), (2, 0, 0), (1, 1, 1)), "low <= high"),
        (lambda: loop_responses([LAG], LoopSettings(0.1, rate_measured=True), (0, 0, 0), (1, 1, 1)), "has no c_rate"),
        (lambda: penalty(np.zeros((4, 2)), (), MarginLimits()), r"gains must have shape \[..., 3\]"),
    ],
)
def test_wrong_input_is_refused_with_what_was_expected(make, message):
    with pytest.raises(ValueError, match=message):
        make()
