"""Loops closed in continuous time: published numbers, textbook polynomials, refusals where no loop is defined."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants import Channel, Plant, Quantity
from plants.core.analysis.integrands import INTEGRANDS, Moment, controller_entropy_rate
from plants.core.elementary import minimum
from plants.excitation import GaussianFilter, Ramp, Sine, Step

VDP, FOPDT = plants.get("van_der_pol"), plants.get("fopdt")
PID = controllers.PID
T_END = 30.0
START = {"position": 0.1, "velocity": 0.0}

# Continuous loop, then the loop sampled every 5 ms with left sums (two independent programs).
PUBLISHED = {
    "iae": (1.896355, 1.899356),
    "itae": (3.348768, 3.349830),
    "ise": (1.524606, 1.528711),
    "effort": (63.25468, 63.262768),
    "entropy_plant": (-0.118206, -0.117482),
    "entropy_controller": (1.502813, 1.505048),
    "entropy_difference_abs": (1.703251, 1.705326),
}


@pytest.fixture(scope="module")
def run():
    closed = plants.close(VDP, PID(), (1.0, 1.0, 1.0), 1.5, integrals=tuple(INTEGRANDS), channel_limits=False)
    return plants.simulate(closed, T_END, 1e-3, START)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_the_published_continuous_case(run, name):
    # Six to seven digits are published; rk4 at 1 ms adds 1e-9 where the integrand is smooth, 1e-7 at kinks of |e|.
    assert run[name][-1] == pytest.approx(PUBLISHED[name][0], rel=4e-7, abs=6e-7)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_the_published_sampled_case(sampled, name):
    assert float(getattr(sampled, name)[0, 0]) == pytest.approx(PUBLISHED[name][1], rel=4e-7, abs=6e-7)


@pytest.fixture(scope="module")
def sampled():
    situation = sscq.Situation(name="published", reference=1.5, initial=START, t_end=T_END)
    return sscq.evaluate(VDP, PID(), (1.0, 1.0, 1.0), situation, step=0.005)


def test_the_signals_of_the_loop_are_outputs(run):
    t, e = run.time, run["error position"]
    np.testing.assert_array_equal(run["reference position"], 1.5)
    np.testing.assert_allclose(e, 1.5 - run["position"], atol=1e-15)
    command = e + run["integral"] - run["velocity"]
    np.testing.assert_allclose(run["command position"], command, atol=1e-14)
    # Trapezoidal sums over 1 ms: error h^2 / 12 times the change of the integrand's slope.
    np.testing.assert_allclose(run["ise"][-1], np.trapezoid(e**2, t), rtol=1e-6)
    np.testing.assert_allclose(run["entropy"], run["entropy_plant"], atol=1e-12)


@pytest.mark.parametrize("q", [0.0, 1.0, 1.5])
def test_poles_of_the_closed_loop_are_those_of_the_textbook_polynomial(q):
    kp, ki, kd = 3.0, 1.5, 2.5
    closed = plants.close(VDP, PID(), (kp, ki, kd), q)
    model = plants.linearise(closed, {"position": q, "velocity": 0.0}, adjust=("integral",))
    np.testing.assert_allclose(model.state, [q, 0.0, q], atol=1e-9)
    # s^3 + (q^2 - 1 + kd) s^2 + (1 + kp) s + ki for mu = 1.
    np.testing.assert_allclose(np.poly(model.A), [1.0, q**2 - 1.0 + kd, 1.0 + kp, ki], atol=1e-9)


def test_gains_and_reference_are_parameters_of_one_closed_plant():
    closed = plants.close(VDP, PID(), (2.0, 0.0, 1.0), 0.5)
    assert [p.name for p in closed.parameters] == ["mu", "kp", "kd", "reference position"]
    moved = plants.linearise(closed, (1.0, 0.0, 1.0 - 4.0 * 0.3), {"kp": 4.0, "reference position": 1.3})
    np.testing.assert_allclose(moved.A[1, :2], [-5.0, -1.0], atol=1e-12)
    with pytest.raises(ValueError, match="'ki'"):
        closed.values("parameters", {"ki": 1.0})


def test_a_closed_loop_keeps_the_contract_of_a_plant_with_its_energy_balance():
    closed = plants.close(VDP, PID(), (3.0, 1.0, 2.0), 0.5)
    report = plants.check(closed)
    assert report.ok, str(report)
    assert any("energy balance closes" in line for line in report.passed)
    assert closed.inputs == ()


def test_the_rate_of_a_smooth_reference_is_exact():
    """With kd alone the command is kd (r' - y')."""
    reference = Sine(0.5, 0.3, 0.7) + Ramp(0.2, 1.0, 3.0)
    closed = plants.close(VDP, PID(), (0.0, 0.0, 2.0), reference, integrals=("entropy_controller",))
    t = np.array([0.3, 1.0, 2.0, 2.9, 4.0])
    block = (t, (np.zeros(5), np.full(5, 0.4), np.zeros(5), np.zeros(5)), (), (np.zeros(5),), (1.0, 2.0))
    outputs, rates = closed.outputs(*block), closed.derivative(*block)
    slope = 0.5 * 2.0 * np.pi * 0.3 * np.cos(2.0 * np.pi * 0.3 * t + 0.7) + 0.2 * ((t > 1.0) & (t < 3.0))
    np.testing.assert_allclose(outputs[-1], 2.0 * (slope - 0.4), rtol=1e-13)
    np.testing.assert_allclose(rates[-1], 2.0 * (slope - 0.4) ** 2, rtol=1e-13)


def test_the_rate_of_an_output_without_a_rate_output_is_its_derivative():
    blind = replace(VDP, channels=(replace(VDP.channels[0], rate=None),))
    with_rate, without = (plants.close(plant, PID(), (1.0, 2.0, 3.0), 0.5) for plant in (VDP, blind))
    block = (0.0, (0.7, -0.4, 0.2), (), (0.1,), (1.0, 1.0, 2.0, 3.0, 0.5))
    assert with_rate.derivative(*block) == pytest.approx(without.derivative(*block), rel=1e-15)


def test_a_filtered_derivative_of_an_output_that_answers_at_once():
    """First order: y' depends on u, u on the filtered rate only, so there is no algebraic loop."""
    no_dead_time = {"L": 0.0}
    law = PID(derivative_filter_time=0.2)
    closed = plants.close(FOPDT, law, (2.0, 1.0, 0.5), 1.0, parameters=no_dead_time)
    assert [p.name for p in closed.parameters] == ["K", "T", "kp", "ki", "kd", "reference output"]
    y, integral, of_reference, of_output = 0.3, 0.1, 0.05, -0.2
    rates = closed.derivative(0.0, (y, integral, of_reference, of_output), (), (0.0,), (1.0, 1.0, 2.0, 1.0, 0.5, 1.0))
    command = 2.0 * (1.0 - y) + integral + 0.5 * (of_reference - of_output)
    y_rate = command - y
    expected = (y_rate, 1.0 - y, -of_reference / 0.2, (y_rate - of_output) / 0.2)
    assert rates == pytest.approx(expected, rel=1e-14)


def test_pi_control_of_a_first_order_lag_has_its_textbook_poles():
    closed = plants.close(FOPDT, PID(), (3.0, 2.0, 0.0), 0.5, parameters={"K": 2.0, "T": 4.0, "L": 0.0})
    model = plants.linearise(closed, {"output": 0.5}, adjust=("integral",))
    np.testing.assert_allclose(np.poly(model.A), [1.0, (1.0 + 6.0) / 4.0, 4.0 / 4.0], atol=1e-10)


def test_limits_of_the_channel_bind_the_law_as_in_a_sampled_loop():
    state, w, p = (0.0, 0.0, 0.0), (0.0,), (1.0, 50.0, 1.5)
    bound = plants.close(VDP, PID(), (50.0, 0.0, 0.0), 1.5)
    free = plants.close(VDP, PID(), (50.0, 0.0, 0.0), 1.5, channel_limits=False)
    own = plants.close(VDP, PID(limits=(-5.0, 5.0)), (50.0, 0.0, 0.0), 1.5)
    commands = [closed.outputs(0.0, state, (), w, p)[-1] for closed in (bound, free, own)]
    assert commands == [20.0, 75.0, 5.0]


@dataclass(frozen=True)
class Proportional:
    """A user's own law with nothing but what closing needs."""

    gain_names: tuple[str, ...] = ("k",)

    def initial(self):
        return ()

    def continuous(self, t, r, y, r_rate, y_rate, c, g):
        return g[0] * (r - y), ()


def coupled_derivative(t, x, u, w, p):
    a, b = x
    return u[0] - a + 0.3 * b, 2.0 * u[1] - b


COUPLED = Plant(
    name="coupled_pair",
    states=(Quantity("a", "m", 0.2), Quantity("b", "rad", -0.1)),
    inputs=(Quantity("fa", "N"), Quantity("fb", "N m")),
    channels=(Channel("a", scale=0.5), Channel("b", scale=0.1)),
    derivative=coupled_derivative,
    allocate=lambda t, x, commands, p: (commands[0] + commands[1], minimum(commands[1], 10.0)),
)


def test_several_channels_with_own_laws_allocation_and_scales():
    laws = (Proportional(), controllers.PID())
    closed = plants.close(COUPLED, laws, (2.0, 3.0, 1.0, 0.0), {"b": 0.4}, integrals=("iae", "effort"))
    assert [s.name for s in closed.states] == ["a", "b", "integral_2", "iae", "effort"]
    assert [p.name for p in closed.parameters] == ["k_1", "kp_2", "ki_2", "reference a", "reference b"]
    rates = closed.derivative(0.0, (0.2, -0.1, 0.05, 0.0, 0.0), (), (), (2.0, 3.0, 1.0, 0.0, 0.4))
    first, second = -0.4, 3.0 * 0.5 + 0.05
    expected = (first + second - 0.2 - 0.03, 2.0 * second + 0.1, 0.5, 0.2 / 0.5 + 0.5 / 0.1, first**2 + second**2)
    assert rates == pytest.approx(expected, rel=1e-14)


def test_gains_go_by_name_as_well():
    by_name = plants.close(VDP, PID(), {"kd": 1.0, "kp": 2.0, "ki": 0.0})
    assert [q.nominal for q in by_name.parameters] == [1.0, 2.0, 1.0, 0.0]


LOOP = {"plant": VDP, "law": PID(), "gains": (1, 1, 1)}
REFUSED = [
    ({"plant": replace(VDP, channels=())}, "no control channel"),
    ({"plant": FOPDT, "gains": (1, 1, 0)}, r"dead time \(L = 0\.3 s\).*parameters=\{'L': 0\.0\}"),
    (
        {"plant": FOPDT, "parameters": {"L": 0.0}},
        "rate of its output, and that rate on the command at once: an algebraic loop.*derivative_filter_time > 0",
    ),
    ({"reference": Step(1.0, at=2.0)}, "'position' must be constant or smooth"),
    ({"reference": GaussianFilter(1.0, 1.0)}, "constant or smooth"),
    ({"gains": (1, 1)}, r"gains of kp, ki, kd must have 3 values \(kp, ki, kd\), got 2"),
    ({"gains": {"kp": 1.0}}, "'ki' among the gains of kp, ki, kd must be finite"),
    ({"integrals": ("ies",)}, "no integral 'ies'; did you mean"),
    ({"reference": {"q": 1.0}}, "no reference for a channel 'q'"),
    ({"reference": (1.0, 2.0)}, r"reference must have 1 entries \(position\), got 2"),
    ({"law": (PID(), PID())}, "has 1 channels, got 2 laws"),
    ({"law": PID(rate_limit=1.0)}, "rate_limit"),
    ({"plant": COUPLED, "gains": (1, 1, 0) * 2, "integrals": ("entropy_plant",)}, "needs the plant's entropy_rate"),
]


@pytest.mark.parametrize(("changes", "told"), REFUSED)
def test_loops_that_are_not_defined_are_refused_with_the_reason(changes, told):
    with pytest.raises(ValueError, match=told):
        plants.close(**LOOP | changes)


@pytest.mark.parametrize(
    ("laws", "told"),
    [(PID, "the class PID itself; call it"), (3.0, "got float, which lacks gain_names, initial, continuous")],
)
def test_what_is_no_law_is_refused(laws, told):
    with pytest.raises(TypeError, match=told):
        plants.close(VDP, laws, (1, 1, 1))


def test_a_measured_output_that_depends_on_an_input_or_a_disturbance_is_refused_where_it_matters():
    direct = replace(VDP, measurements=(Quantity("force", "N"),), channels=(Channel("force"),),
                     outputs=lambda t, x, u, w, p: (u[0],))  # fmt: skip
    with pytest.raises(ValueError, match="the measured output 'force' of plant 'van_der_pol' depends on an input"):
        plants.close(direct, PID(), (1.0, 0.0, 0.0))
    disturbed = replace(direct, outputs=lambda t, x, u, w, p: (x[0] + w[0],))
    assert plants.close(disturbed, PID(), (1.0, 1.0, 0.0)).name == "van_der_pol closed"
    with pytest.raises(ValueError, match="depends on a disturbance, so its rate is not known"):
        plants.close(disturbed, PID(), (1.0, 1.0, 1.0))


@pytest.mark.parametrize("name", INTEGRANDS)
def test_a_left_sum_adds_the_rate_of_the_integral_times_the_step(name):
    moment = Moment(
        t=2.0, since=1.5, scaled_error=(-2.0, 1.0), command=(3.0, -4.0), entropy_plant=0.5, entropy_controller=2.0
    )
    integrand = INTEGRANDS[name]
    assert integrand.over(0.25, moment) == 0.25 * integrand.rate(moment) != 0.0


def test_the_entropy_rate_of_controllers_counts_the_magnitude_of_an_opposed_gain():
    channel = VDP.channels[0]
    opposed = replace(channel, gains_low=(-1.0,) * 3, gains_high=(0.0,) * 3)
    parts = ((channel, -2.0, 3.0), (opposed, -2.0, 0.5))
    assert controller_entropy_rate(parts) == -18.0 + 0.5
