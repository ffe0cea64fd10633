"""Margin designs: published optima, an optimum found another way, and the schedule over operating points."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import plants
import sscq
from controllers import PID
from plants.core.analysis.linearise import linearise
from sscq.baselines.margin_schedule import MarginSchedule, NoScheduleError, margin_gains, margin_schedule
from sscq.baselines.tuning_rules import ultimate_gain
from sscq.loop.spec import LoopSpec
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LinearPlant, LoopSettings, one_channel
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins

THREE_LAGS = LinearPlant([[-1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
LIMITS = MarginLimits(1.8)
VDP = plants.get("van_der_pol")


@pytest.mark.parametrize(("limit", "gain", "integral_time"), [(1.4, 0.633, 1.95), (2.0, 1.22, 1.78)])
def test_published_pi_controllers(limit, gain, integral_time):
    """1 / (s + 1)^3 in the paper of Astrom, Panagopoulos and Hagglund, Automatica 34 (1998): K and Ti."""
    (response,) = loop_responses([THREE_LAGS], LoopSettings(0.002), (0, 0, 0), (5, 3, 0))
    found = margin_gains(response, (0, 0, 0), (5, 3, 0), MarginLimits(limit))
    # Three published digits, and a sample time of 2 ms, which costs 0.1 % of K (0.3 % at 10 ms).
    assert found.gains[0] == pytest.approx(gain, rel=3e-3)
    assert found.gains[0] / found.gains[1] == pytest.approx(integral_time, rel=4e-3)
    assert found.kept
    assert found.sensitivity == pytest.approx(limit, rel=1e-6)


def test_first_order_plus_dead_time_by_another_way():
    """The same optimum from the transfer function written down, ki by bisection and kp by line search."""
    h, samples, T = 0.05, 6, 1.0
    z = np.exp(1j * np.geomspace(1e-3, np.pi / h, 20_000) * h)
    decay = np.exp(-h / T)
    plant = (1.0 - decay) / (z - decay) * z**-samples

    def excess(ki, kp):
        return np.abs(1.0 / (1.0 + plant * (kp + ki * h / (z - 1.0)))).max() - LIMITS.sensitivity

    def largest(kp):
        return brentq(excess, 1e-6, 8.0, args=(kp,)) if excess(1e-6, kp) < 0.0 else 0.0

    best = minimize_scalar(lambda kp: -largest(kp), bounds=(0.2, 2.5), method="bounded", options={"xatol": 1e-7})
    linear = LinearPlant([[-1.0 / T]], [1.0 / T], [1.0], delay=samples * h)
    (response,) = loop_responses([linear], LoopSettings(h), (0, 0, 0), (5, 8, 0))
    found = margin_gains(response, (0, 0, 0), (5, 8, 0), LIMITS)
    assert found.gains[1] == pytest.approx(-best.fun, rel=1e-4)  # both frequency grids miss the peak by less
    assert found.gains[0] == pytest.approx(best.x, rel=2e-2)  # ki is flat in kp at its top: errors go with the root


def test_derivative_action_raises_the_integral_gain():
    (response,) = loop_responses([THREE_LAGS], LoopSettings(0.01), (0, 0, 0), (9, 9, 9))
    pi, pid = (margin_gains(response, (0, 0, 0), (9, 9, kd), MarginLimits(1.4)) for kd in (0.0, 9.0))
    assert pid.gains[1] > 2.0 * pi.gains[1]
    assert pid.kept


def test_the_box_may_bind_before_the_margins():
    """Then ki is at its end, and no kp or kd of the box would give a smaller Ms."""
    margins = OperatingMargins(VDP, PID(), [sscq.Situation()], 0.01, [0] * 3, [10] * 3, LIMITS)
    found = margin_gains(margins.channels.responses[0], [0] * 3, [10] * 3, LIMITS)
    assert found.gains[1] == pytest.approx(10.0, abs=1e-5)
    kp, kd = (g.ravel() for g in np.meshgrid(np.linspace(0, 10, 21), np.linspace(0, 10, 21)))
    others = margins.margins(np.stack([kp, np.full_like(kp, 10.0), kd], axis=1))[0].sensitivity[:, 0]
    assert found.sensitivity <= others.min() + 1e-9
    assert found.sensitivity < 1.05


def test_negative_gains_grow_in_magnitude():
    turned = LinearPlant(THREE_LAGS.A, [-1.0, 0.0, 0.0], THREE_LAGS.c)
    (plus,) = loop_responses([THREE_LAGS], LoopSettings(0.01), (0, 0, 0), (5, 3, 0))
    (minus,) = loop_responses([turned], LoopSettings(0.01), (-5, -3, 0), (0, 0, 0))
    one = margin_gains(plus, (0, 0, 0), (5, 3, 0), LIMITS)
    other = margin_gains(minus, (-5, -3, 0), (0, 0, 0), LIMITS)
    np.testing.assert_allclose(other.gains, -one.gains, rtol=1e-4)  # two searches, each to its own tolerance


def test_without_any_gains_that_keep_the_margins_it_says_so():
    unstable = LinearPlant([[3.0]], [1.0], [1.0], delay=0.3)
    (response,) = loop_responses([unstable], LoopSettings(0.01), (0, 0, 0), (5, 1, 0))
    assert not margin_gains(response, (0, 0, 0), (5, 1, 0), MarginLimits(1.2)).kept


def test_some_gain_must_be_free():
    (response,) = loop_responses([THREE_LAGS], LoopSettings(0.01), (0, 0, 0), (1, 1, 1))
    with pytest.raises(ValueError, match="ki or kp must be free"):
        margin_gains(response, (1, 0, 0), (1, 0, 1), LIMITS)


# ------------------------------------------------------------------------------------------------------ the schedule


def scheduled(plant, step, **options):
    """In the box of the plant's first channel."""
    c = plant.channels[0]
    return margin_schedule(plant, PID(), [sscq.Situation()], step, c.gains_low, c.gains_high, LIMITS, **options)


@pytest.fixture(scope="module")
def of_oscillator():
    return margin_schedule(VDP, PID(), [sscq.Situation()], 0.01, [0] * 3, [10] * 3, LIMITS)


def test_a_plant_with_mirror_symmetry_is_scheduled_over_the_magnitude(of_oscillator):
    assert of_oscillator.transform == "magnitude"
    assert of_oscillator.nodes == pytest.approx((0.0, 0.5, 1.0, 1.5, 2.0))
    assert of_oscillator.kept
    tanks = plants.get("two_tanks")
    found = scheduled(tanks, tanks.step, midpoints=True)
    assert found.transform == "identity"
    assert found.nodes == pytest.approx((0.05, 0.1, 0.15, 0.2, 0.25))  # sorted, with the levels in between


def test_symmetric_points_are_one_node():
    """Duffing's oscillator has points at -1 and 1: the same linear plant."""
    assert scheduled(plants.get("duffing"), 0.01).nodes == pytest.approx((0.0, 0.5, 1.0, 2.0))


def test_the_controller_gives_the_gains_of_the_design(of_oscillator):
    controller = of_oscillator.controller((PID(),), 0.04)
    theta = tuple(of_oscillator.gains.ravel())
    for position in (-2.5, -0.75, 0.0, 0.2, 1.5, 3.0):
        gains, _ = controller.schedule.gains(0.0, (0.0, 0.0, position), (), theta)
        np.testing.assert_allclose(gains, of_oscillator.at([position])[0], rtol=1e-12)
    np.testing.assert_allclose(of_oscillator.at([-0.5])[0], of_oscillator.gains[1])


def test_margins_of_a_schedule_belong_to_its_points(of_oscillator):
    """Gains of one point would be unstable at another; what counts is each at its own."""
    margins = OperatingMargins(VDP, PID(), [sscq.Situation()], 0.01, [0] * 3, [10] * 3, LIMITS)
    controller, theta = of_oscillator.controller((PID(),), 0.04), of_oscillator.gains.ravel()
    at_rest = margins.at_rest(controller, theta)[0]
    np.testing.assert_allclose(at_rest.sensitivity[0], of_oscillator.sensitivity[:, 0], rtol=1e-6)
    assert margins.keeps_of(controller, theta)
    assert not margins.keeps_of(controller, of_oscillator.gains[::-1].ravel())
    strict = margins.with_limits(MarginLimits(1.8, 0.5))
    assert not strict.keeps_of(controller, theta)  # delay margins count, too


def test_one_operating_point_gives_constant_gains():
    found = scheduled(plants.get("fopdt"), 0.05)
    assert found.controller((PID(),), 0.2).theta_names == ("kp", "ki", "kd")


def test_without_operating_points_there_is_none():
    nowhere = replace(plants.get("cart_pole"), operating_points=())
    with pytest.raises(NoScheduleError, match="declares no operating points"):
        margin_schedule(nowhere, PID(), [sscq.Situation()], 0.01, [0] * 6, [1] * 6, LIMITS)


def test_nodes_with_equal_gains_interpolate_to_them():
    table = MarginSchedule("y", "identity", (0.0, 1.0), np.ones((2, 3)), np.ones((2, 1)), kept=True)
    np.testing.assert_array_equal(table.at([-1.0, 0.3, 2.0]), 1.0)


# ----------------------------------------------------------------------------------------------------- other channels


def test_other_channels_are_closed_by_their_laws():
    """Two heaters: closing both, one after the other, has the eigenvalues of the loop written as one matrix."""
    heater, tau = plants.get("heater"), 20.0
    laws = (PID(derivative_filter_time=tau),) * 2
    spec = LoopSpec(heater, laws, [sscq.Situation()], heater.step)
    model = linearise(heater, heater.operating_points[0], commands=True)
    gains = np.array([[8.0, 0.1, 90.0], [5.0, 0.2, 60.0]])
    seen = one_channel(spec, model, 0, gains, "warm")
    A, b, c = np.array(seen.A), np.array(seen.b), np.array(seen.c)
    rows, n = np.array([model.row(channel.output) for channel in heater.channels]), len(model.A)
    whole = np.zeros((n + 4, n + 4))  # plant; integrals; filtered rates
    whole[:n, :n] = model.A
    for i, (kp, ki, kd) in enumerate(gains):
        command = np.zeros(n + 4)
        command[:n], command[n + i], command[n + 2 + i] = -kp * rows[i], 1.0, -kd
        whole[:n] += np.outer(model.B[:, i], command)
        whole[n + i, :n] = -ki * rows[i]
        whole[n + 2 + i, n + 2 + i] = -1.0 / tau
        whole[n + 2 + i, :n] = rows[i] @ model.A / tau
    kp, ki, kd = gains[0]
    last = np.zeros((len(A) + 2, len(A) + 2))
    last[:-2, :-2] = A - kp * np.outer(b, c)
    last[:-2, -2], last[:-2, -1] = b, -kd * b
    last[-2, :-2] = -ki * c
    last[-1, :-2], last[-1, -1] = c[:n] @ model.A @ np.eye(n, len(A)) / tau, -1.0 / tau
    expected, found = (np.sort_complex(np.linalg.eigvals(m)) for m in (whole, last))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)  # the same numbers in another order
    still = one_channel(spec, model, 0, None, "warm")
    np.testing.assert_array_equal(still.A, model.A)


def test_a_measured_rate_is_the_one_that_is_closed():
    vdp = linearise(VDP, "position 0", commands=True)
    spec = LoopSpec(VDP, PID(), [sscq.Situation()], 0.01)
    seen = one_channel(spec, vdp, 0, None, "rest")
    np.testing.assert_array_equal(seen.c_rate, [0.0, 1.0])
    differenced = LoopSpec(VDP, PID(rate_source="difference"), [sscq.Situation()], 0.01)
    assert one_channel(differenced, vdp, 0, None, "rest").c_rate is None


# ------------------------------------------------------------------------------------------------------ ultimate gain


def test_ultimate_gain_of_first_order_plus_dead_time():
    """w L + atan(w T) = pi and Ku = sqrt(1 + w^2 T^2); sampling adds half a sample of dead time, to second order."""
    h, T, L = 0.002, 1.0, 0.3
    w = brentq(lambda w: w * (L + 0.5 * h) + np.arctan(w * T) - np.pi, 1.0, 20.0)
    gain, period = ultimate_gain(LinearPlant([[-1.0 / T]], [1.0 / T], [1.0], delay=L), LoopSettings(h))
    assert gain == pytest.approx(np.hypot(1.0, w * T), rel=1e-4)  # (w h)^2 / 24 = 6e-6, and the hold's own
    assert period == pytest.approx(2.0 * np.pi / w, rel=1e-4)


def test_published_ultimate_gain_of_three_lags():
    """1 / (s + 1)^3: Ku = 8 at w = sqrt(3)."""
    gain, period = ultimate_gain(THREE_LAGS, LoopSettings(0.001))
    assert gain == pytest.approx(8.0, rel=2e-3)  # half a sample at w = 1.7 costs 0.1 %
    assert period == pytest.approx(2.0 * np.pi / np.sqrt(3.0), rel=1e-3)


def test_of_a_conditionally_stable_loop_the_upper_edge_counts():
    """(s + 1)^2 / (s^3 (0.01 s + 1)^2): unstable below a gain of about 1/2, stable up to about 100."""
    denominator = np.convolve([1.0, 0.0, 0.0, 0.0], np.convolve([0.01, 1.0], [0.01, 1.0]))
    A = np.eye(5, k=1)
    A[-1] = -denominator[:0:-1] / denominator[0]
    plant = LinearPlant(A, np.eye(5)[4], np.array([1.0, 2.0, 1.0, 0.0, 0.0]) / denominator[0])

    def growth(gain):
        return np.roots(np.polyadd(denominator, gain * np.array([1.0, 2.0, 1.0]))).real.max()

    gain, _ = ultimate_gain(plant, LoopSettings(2e-4))
    assert growth(0.3) > 0.0 > growth(1.0)
    # Half a sample at 100 rad/s is 0.6 degrees, of a phase that turns by 1 degree for 2 % of frequency.
    assert gain == pytest.approx(brentq(growth, 1.0, 1000.0), rel=0.05)


@pytest.mark.parametrize(
    "plant",
    [
        LinearPlant([[-1.0]], [1.0], [1.0]),  # only the sampling limits the gain
        LinearPlant([[0.0, 1.0], [0.0, 0.0]], [0.0, 1.0], [1.0, 0.0]),  # no proportional gain holds it
        LinearPlant([[1.0]], [-1.0], [1.0]),  # the wrong sense
    ],
    ids=["first order", "double integrator", "wrong sense"],
)
def test_plants_without_an_ultimate_gain(plant):
    assert ultimate_gain(plant, LoopSettings(0.01)) is None
