"""A run of a closed chain begins closed, whatever start and parameters are given, wherever they are given."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import Channel, Mechanism, OperatingPoint, StartWarning, cos, sin
from plants.adapters.stepped import Stepped
from plants.core.analysis.equilibrium import Equilibria
from sscq.loop.closed_loop import ClosedLoop
from sscq.situations.situation_sets import standard_sets, varied

CLOSED = 1e-9  # m
START = (0.8, 0.647848, 1.646699)  # rad, closed for the nominal bars to six digits


def four_bar(form="auto", initial=START, **fields):
    """Bars that turn about their ends in a vertical plane, a motor at the crank."""
    mech = Mechanism("four_bar", "Four-bar, uniform bars")
    a, b, c = mech.coordinates("crank coupler rocker", units="rad", initial=initial, low=-20.0, high=20.0)
    va, vb, vc = mech.rates("wa wb wc")
    lengths = {"l1": 0.3, "l2": 0.8, "l3": 0.7, "l0": 0.9}
    l1, l2, l3, l0 = (mech.parameter(name, value, "m", low=0.05, high=4.0) for name, value in lengths.items())
    m, d = mech.parameter("m", 1.0, "kg", low=0.1), mech.parameter("d", 0.2, "N m s", low=0.0)
    torque = mech.inputs("torque", units=["N m"])
    mech.position_constraint(l1 * cos(a) + l2 * cos(b) - l0 - l3 * cos(c))
    mech.position_constraint(l1 * sin(a) + l2 * sin(b) - l3 * sin(c))
    along = -l1 * sin(a) * va - l2 / 2 * sin(b) * vb
    across = l1 * cos(a) * va + l2 / 2 * cos(b) * vb
    mech.kinetic(m / 2 * ((l1 * va) ** 2 / 3 + (l3 * vc) ** 2 / 3 + along**2 + across**2 + (l2 * vb) ** 2 / 12))
    mech.force({a: torque})
    mech.force({a: -d * va}, kind="dissipative")
    if form == "auto":
        mech.basis(**mech.suggest_basis())
    channel = Channel(output="crank", scale=0.3, low=-5.0, high=5.0)
    return mech.build(form, **{"step": 0.005, "channels": (channel,), **fields})


@pytest.fixture(scope="module")
def plant():
    return four_bar()


def gap(plant, x, parameters=None):
    """Largest opening of the chain in a state [m], written out here."""
    l1, l2, l3, l0 = plant.values("parameters", parameters)[:4]
    a, b, c = x[:3]
    return max(
        abs(l1 * np.cos(a) + l2 * np.cos(b) - l0 - l3 * np.cos(c)),
        abs(l1 * np.sin(a) + l2 * np.sin(b) - l3 * np.sin(c)),
    )


OTHERS = [{}, {"l1": 0.4}, {"l0": 1.0, "l3": 0.8}]


@pytest.mark.parametrize("parameters", OTHERS)
@pytest.mark.parametrize("initial", [None, {"crank": 1.5}, {"crank": 3.0}, {"rocker": 1.9}])
def test_a_simulation_begins_closed_and_stays_so(plant, initial, parameters):
    run = plants.simulate(plant, 0.2, 0.005, initial=initial, parameters=parameters)
    assert max(gap(plant, x, parameters) for x in run.states) < CLOSED
    for name, value in (initial or {}).items():
        assert run.states[0, plant.index("states", name)] == value


def test_it_stays_on_its_branch(plant):
    """Turned once round in quarters the linkage comes back to where it began."""
    turned = plant.start({"crank": START[0] + 2.0 * np.pi})[0]
    np.testing.assert_allclose(np.array(turned[1:3]), np.array(plant.initial()[1:3]), atol=1e-5)


@pytest.mark.parametrize("kind", ["taught", "validation", "unforeseen"])
def test_every_situation_begins_closed(plant, kind):
    """Generic ones and their spreads, in the kernel of evaluations and designs."""
    situations = standard_sets(plant)[kind]
    situations = (*situations, *varied(plant, situations, 0.15, 2, 0))
    loop = ClosedLoop(plant, PID(), situations, 0.005)
    span = loop.design.rows.span("x")
    openings = [gap(plant, loop.start_rows(k)[span], s.parameters) for k, s in enumerate(situations)]
    assert len(openings) >= 6
    assert max(openings) < CLOSED


def test_a_record_begins_closed(plant):
    there = sscq.Situation(
        name="there", reference={"crank": 1.8}, initial={"crank": 1.5}, parameters={"l1": 0.35}, t_end=0.5
    )
    run = sscq.record(plant, PID(), np.array([2.0, 0.5, 0.5]), there, step=0.005)
    assert max(gap(plant, x, there.parameters) for x in run.states) < CLOSED
    assert run.states[0, 0] == 1.5


def test_a_plain_session_begins_closed(plant):
    session = Stepped(plant, "rk4")
    session.start(plant.values("parameters", {"l1": 0.4}), {"crank": 1.5})
    assert gap(plant, session.x, {"l1": 0.4}) < CLOSED


@pytest.mark.parametrize("parameters", OTHERS)
def test_linear_models_and_their_adjusted_states_are_closed(plant, parameters):
    fixed = plants.linearise(plant, {"crank": 1.2}, parameters)
    assert gap(plant, fixed.state, parameters) < CLOSED
    assert fixed.state[0] == 1.2
    adjusted = plants.linearise(plant, plant.initial(), parameters, adjust=("coupler", "rocker"))
    assert gap(plant, adjusted.state, parameters) < CLOSED


def test_an_operating_point_follows_the_parameters(plant):
    point = OperatingPoint("nominal", plant.initial())
    assert gap(plant, plants.linearise(plant, point, {"l1": 0.4}).state, {"l1": 0.4}) < CLOSED


def test_an_equilibrium_is_closed(plant):
    found = Equilibria(plant, {"l1": 0.35}).at([1.4])
    assert found.reached == 1.0
    assert found.state[0] == pytest.approx(1.4)
    assert gap(plant, found.state, {"l1": 0.35}) < CLOSED


def test_what_cannot_be_closed_is_refused(plant):
    with pytest.raises(ValueError, match=r"four_bar.*no start near.*fulfils.*l0 = 3"):
        plants.simulate(plant, 0.1, 0.005, parameters={"l0": 3.0})


def test_a_whole_start_that_is_open_moves_and_is_announced(plant):
    with pytest.warns(StartWarning, match="crank, coupler, rocker moved"):
        run = plants.simulate(plant, 0.1, 0.005, initial=(1.2, 0.2, 1.2, 0.0))
    assert gap(plant, run.states[0]) < CLOSED


def test_a_closed_start_is_not_changed_by_a_bit(plant):
    assert plant.start(plant.initial())[0] == plant.initial()
    closed = plant.start({"crank": 1.1})[0]
    assert plant.start(closed)[0] == closed


def test_with_multipliers_the_rates_fit_too():
    plant = four_bar("routh")
    x, p = plant.start({"crank": 1.5, "wa": 2.0}, {"l1": 0.4})
    assert (x[0], x[3]) == (1.5, 2.0)
    residuals = plant.constraints(0.0, x, (0.0,), (), p)
    assert len(residuals) == 4
    assert max(map(abs, residuals)) < CLOSED


def test_an_initial_guess_that_moves_is_announced_when_building():
    with pytest.warns(StartWarning, match=r"crank 0\.9 -> 0\.72.*coupler 0\.3 -> 0\.67"):
        four_bar(initial=(0.9, 0.3, 1.6))


def test_check_tells_residuals_and_starts_that_move(plant):
    report = plants.check(plant)
    assert any("constraints hold along the tested run to" in line for line in report.passed)
    assert any("hold at every declared start" in line for line in report.passed)
    point = OperatingPoint("open", (1.2, 0.2, 1.2, 0.0))
    report = plants.check(replace(plant, task=replace(plant.task, operating_points=(point,))))
    assert any("operating point 'open' (coupler 0.2 -> " in line for line in report.advice)


def test_check_refuses_a_nominal_start_that_is_open(plant):
    opened = replace(plant, states=(replace(plant.states[0], nominal=1.5), *plant.states[1:]))
    assert any("nominal start breaks its constraints" in line for line in plants.check(opened).problems)


def test_a_plant_without_constraints_begins_as_given():
    plant = plants.get("pendulum")
    initial = {plant.states[0].name: 0.3}
    assert plant.start(initial) == (plant.values("states", initial), plant.nominal())


def test_constraints_and_their_projection_go_together(plant):
    with pytest.raises(ValueError, match="go together"):
        replace(plant, admissible=None)
