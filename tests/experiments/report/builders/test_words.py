"""Words of the report: situations, units and the cost, as the run had them."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import pytest

import plants
from controllers import PID
from experiments.report.builders import words
from experiments.report.builders.case import FinishedDesign
from plants.excitation import Recorded, Step, UniformFilter, WhiteNoise
from plants.suspension.roads import rough_road
from sscq.situations.situation import Situation


def test_situations_in_words(run):
    plant = plants.get("van_der_pol")
    given = Situation(
        "x", reference=1.5, excitation=WhiteNoise(0.3, hold=0.1) + Step(-0.5, at=2.0), parameters={"mu": 2.0},
        initial={"position": 0.1}, delay=0.02, noise=0.01, limits=(-5.0, 5.0), t_end=12.0,
        jitter=0.3, quantisation=0.05, dropout=0.1, command_dropout=0.02, rate_limit=20.0, dead_zone=0.1,
        backlash={"force": 0.2},
    )  # fmt: skip
    text = words.situation(plant, given)
    for part in (
        "reference 1.5 m", "start position 0.1 m, velocity 0 m/s", "excitation: white noise (variance 0.3, hold 0.1 s,",
        "step (height −0.5, at 2 s)", "mu = 2 N s/m", "command delayed by 0.02 s", "sensor noise position 0.01 m",
        "actuator limited to −5 … 5", "12 s",
        "sampling jitter of 30.0\N{NO-BREAK SPACE}% of a sample", "quantisation position 0.05 m",
        "; 10.0\N{NO-BREAK SPACE}% of the measurements lost", "; 2.0\N{NO-BREAK SPACE}% of the commands lost",
        "actuator no faster than force 20 N/s", "actuator dead zone force 0.1 N", "backlash force 0.2 N",
    ):  # fmt: skip
        assert part in text
    car = plants.get("suspension")
    road = words.situation(car, Situation("road", excitation=rough_road("C", 15.0)))
    assert "; R_i, R_ii, R_iii, R_iv: wheel road (C, speed 15" in road
    assert "True" not in road
    plain = words.situation(plant, Situation("rest"))
    assert plain == "reference 0 m; 20 s"
    series = Recorded((0.0, 1.0), (1.0, 2.0))
    assert "recorded (interpolation" not in words._part(series, "N")
    assert words._part(UniformFilter(1.2, 10.0), "N") == "uniform filter (width 1.2, bandwidth 10 rad/s)"


@pytest.mark.parametrize(
    ("command", "output", "units"),
    [
        ("N", "m", ("N/m", "N/(m s)", "N s/m")),
        ("1", "1", ("", "1/s", "s")),
        ("V", "", ("V", "V/s", "V s")),
        ("", "K", ("1/K", "1/(K s)", "s/K")),
        ("N", "m/s", ("N/(m/s)", "N/((m/s) s)", "N s/(m/s)")),
    ],
)
def test_units_of_gains(command, output, units):
    assert words.gain_units(command, output) == units


@pytest.mark.parametrize(
    ("plant", "iae", "itae", "effort", "travel"),
    [
        ("van_der_pol", "m s", "m s²", "N² s", "N"),
        ("heater", "s, scaled", "s², scaled", "%² s", "%"),  # both errors over 10 K
        ("fopdt", "s", "s²", "s", ""),
    ],
)
def test_units_of_measures(plant, iae, itae, effort, travel):
    found = words.measure_units(plants.get(plant))
    told = [found[name] for name in ("iae", "itae", "effort", "total_variation", "entropy_difference_abs")]
    assert told == [iae, itae, effort, travel, "J"]


@pytest.mark.parametrize(
    ("plant", "bias", "unit"),
    [("two_tanks", 9.2585, "V"), ("magnetic_levitation", None, "V"), ("cart_pole", None, ""), ("duffing", None, "N")],
)
def test_a_command_that_is_added_to_an_input_has_its_unit(plant, bias, unit):
    given = plants.get(plant)
    found = words.bias(given)
    if given.allocate is not None and len(given.channels) == 1:
        held = given.allocate(0.0, given.initial(), (0.0,), given.nominal())[0]
        assert found == pytest.approx(held, rel=1e-12)
        assert words.added(given) == f", added to voltage {words.rounded(held)} V (command 0)"
    if bias is not None:
        assert found == pytest.approx(bias, rel=1e-4)
    assert words.command_unit(given, 0) == unit
    assert words.measure_units(given)["total_variation"] == unit


def test_a_command_that_is_turned_into_another_quantity_has_no_unit():
    given = plants.get("two_tanks")
    doubled = replace(given, allocate=lambda t, x, u, p: (2.0 * u[0],))
    assert words.bias(doubled) is None
    assert words.command_unit(doubled, 0) == ""


def test_the_law_to_type_gains_into(run):
    case, plain = run.case, PID(limits=(-20.0, 20.0), sample_time=0.01)

    def of(law):
        bench = copy(run.bench)
        bench.setup = replace(run.bench.setup, laws=(law,))
        return words.law(replace(case, bench=bench), 0)

    text = of(plain)
    assert text.formula == (
        "u = K [b r − y + (r − y)/(Ti s) + Td (s r − v)] = kp (b r − y) + ki/s (r − y) + kd (s r − v)"
    )
    for told in ("derivative on the error (v: the measured velocity, not differentiated)",
                 "no filter; N is for who has no such signal and differentiates y over one sample (0.01 s), with more noise",
                 "anti-windup: conditional", "sample time 0.01 s", "u −20 … 20 N;", "scheduled gains renewed every"):  # fmt: skip
        assert told in text.settings
    lagged = of(replace(plain, derivative_on="measurement", derivative_filter_time=0.05))
    assert "+ kd 1/(1 + s Td/N) (−v)" in lagged.formula
    assert "filter Td/N = 0.05 s" in lagged.settings
    differenced = of(replace(plain, rate_source="difference"))
    assert "+ kd s/(1 + s Td/N) (r − y)" in differenced.formula
    assert "no filter set: Td/N = 0.01 s is one sample, a difference over it;" in differenced.settings
    other = of(
        replace(plain, derivative_on="measurement", derivative_filter_time=0.05, rate_source="difference",
                anti_windup="back_calculation", tracking_time=0.5, action="reverse", limits=None, rate_limit=3.0)
    )  # fmt: skip
    assert "K [y − b r + (y − r)/(Ti s) + Td s/(1 + s Td/N) y]" in other.formula
    for told in (
        "derivative on the measurement, filter Td/N = 0.05 s",
        "back calculation, 0.5 s",
        "no faster than 3 N/s",
    ):
        assert told in other.settings


def test_units_of_rates_and_of_several_commands():
    channels = [replace(plants.get("heater").channels[0], scale=1.0), plants.get("heater").channels[1]]
    assert words.measure_units(replace(plants.get("heater"), channels=tuple(channels)))["iae"] == "s, scaled"
    plant = plants.get("van_der_pol")
    rate = replace(plant, channels=(replace(plant.channels[0], output="velocity", rate=None),))
    assert (words.measure_units(rate)["iae"], words.measure_units(rate)["ise"]) == ("m", "(m/s)² s")
    still = replace(plant, entropy_rate=None)
    assert "entropy_difference_abs" not in words.measure_units(still)


def test_cost_in_words(run, data):
    reference = replace(run.case.ref, fitness=run.case.fitness)
    assert data.cost.startswith("J = IAE + 0.3 ∫|ΔṠ| dt. Of the fixed PID's J in the unforeseen situations: ")
    assert sum(words.shares(run.case).values()) == pytest.approx(1.0)
    relative = replace(reference.fitness, reference={"iae": 2.0, "entropy_difference_abs": 4.0})
    case = replace(run.case, ref=replace(run.reference, fitness=relative))
    text = words.cost(case)
    assert "J = IAE / 2.000 + 0.3 ∫|ΔṠ| dt / 4.000" in text
    assert "each divided by its mean for your present gains" in text


def test_names_that_two_kinds_share_are_told_apart(run):
    sets = {kind: (Situation("same"),) for kind in ("taught", "unforeseen")} | {"validation": (Situation("other"),)}
    bench = SimpleNamespace(setup=SimpleNamespace(sets=sets))
    labels = [p.label for p in FinishedDesign(bench, None, (), None, None, {}).places]
    assert labels == ["same (taught)", "other", "same (unforeseen)"]
