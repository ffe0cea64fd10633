"""Bad input at the command line: one clear message, exit code 2, no traceback, and no run folder left behind."""

import json
import re
from pathlib import Path

import pytest

from experiments import cli

pytestmark = pytest.mark.usefixtures("own_folder")

TANK = """
import plants


def derivative(t, x, u, w, p):
    return (u[0] - x[0],)


plants.register(plants.Plant(
    name="my_tank",
    states=(plants.Quantity("level", "m"),),
    inputs=(plants.Quantity("inflow", "m/s"),),
    channels=(plants.Channel(output="level", low=0.0, high=1.0),),
    derivative=derivative,
))
"""


@pytest.fixture
def refused(refused):
    """As everywhere, of one error, and without the word that a plant file is executed."""

    def run(*words):
        said = [line for line in refused(*words).splitlines() if not line.startswith("executing ")]
        assert [line.startswith("error: ") for line in said] == [True] + [False] * (len(said) - 1)
        return "\n".join(said)

    return run


# ------------------------------------------------------------------------------------------------------ names and gains


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("simulate initial.x1=0.5", "no setting 'initial.x1'; write initial as a whole: 'initial={x1: value}'"),
        ("simulate budget=small", "`sscq simulate` has no part 'budget' to be exchanged"),
        (
            "simulate initial={positon: 1}",
            "no name among the states of plant 'van_der_pol': 'positon'; did you mean 'position'?",
        ),
        (
            "simulate initial={position: far}",
            "initial must be a list [a, b] or a mapping {name: value} of numbers, or null",
        ),
        ("simulate initial=1", "initial must be a list [a, b] or a mapping {name: value} of numbers, or null, got 1"),
        (
            "design situations.taught={a: {initial: {positon: 1}}}",
            "'a': no name among the states of plant 'van_der_pol'",
        ),
        (
            "design situations.taught={a: {initial: [a, b]}}",
            "situations.taught.a.initial must be a list [a, b] or a mapping",
        ),
        ("simulate inputs.force.kind=step", "no part 'force' to change; write it as a whole: PART={force: {"),
        ("simulate parameters.mu=x", "parameters.mu: Value 'x' of type 'str' could not be converted to Float"),
        (
            "design controller.low=[10,0,0] controller.high=[1,1,1]",
            "low[0] must not exceed high[0], got 10.0 and 1.0; swap",
        ),
        ("design controller.low=[50,0,0]", "gain bounds must satisfy low <= high"),  # against the plant's upper bounds
        ("design controller.low=[1,1,1] controller.high=[1,1,1]", "low < high for one gain at least"),
        ("design controller.low=[nan,0,0]", "controller.low[0] must be a number, got nan"),
        (
            "design controller.low=[1,2]",
            "controller.low must be kp, ki, kd for each of the 1 channels of 'van_der_pol'",
        ),
        ("design controller.own_gains=[1,2]", "controller.own_gains must be kp, ki, kd"),
        ("design situations.taught={a: {initial: [1]}}", "'a': states of plant 'van_der_pol' must have 2 values"),
        ("design situations.taught={a: {parameters: {nu: 1}}}", "'a': no name among the parameters of plant"),
        ("design situations.taught={a: {t_end: 0.005}}", "t_end = 0.005 s must be a multiple of step = 0.01 s"),
        ("design step=0.03", "the hold time 0.1 s must be a multiple of the step 0.03 s"),
        ("design controller.sample_time=0.015", "sample_time must be a multiple of the step"),
        ("design algebraic_loop=iterated", "plant 'van_der_pol' has no algebraic loop"),
        (
            "design plant=nonlinear_inertia integrator=rosenbrock algebraic_loop=loop_free",
            "knows no algebraic_loop='loop_free'; use algebraic_loop='solved', or one of the integrators euler, heun",
        ),
        (
            "design network.inputs=[e,postion]",
            "'postion' is none of e, e_rate, z, and plant 'van_der_pol' measures position",
        ),
        ("design network.inputs=[e,postion]", "did you mean 'position'"),
        ("design network.shape=round", "network.shape must be one of triangular, trapezoid, gaussian, bell, search"),
        ("design network.terms=1", "network.terms must be at least 2"),
        ("design network.max_inputs=0", "network.max_inputs must be at least 1"),
        ("design network.rule_loss=-0.1", "network.rule_loss must be at least 0"),
        ("design network.input_loss=-1", "network.input_loss must be at least 0"),
        ("design network.centres={postion: [0, 1]}", "'postion' is none of the inputs e, e_rate"),
        ("design network.centres={e: [0, 0]}", "'e' needs 2 to 9 finite numbers that increase, got [0, 0]"),
        ("design network.centres={e: 3}", "'e' needs 2 to 9 finite numbers that increase, got 3"),
        ("design network.centres={e: [0]}", "'e' needs 2 to 9 finite numbers that increase, got [0]"),
        ("design network.centres={e: [-1, 2]} network.mirrored=true", "'e' must be its own mirror image with mirrored"),
        (
            "design plant=balancing_vehicle network.inputs=[slip_seen] network.centres={slip_seen: [0.5, 1.5]}",
            "network.centres: plant 'balancing_vehicle' has slip_seen in [0, 1], got [0.5, 1.5]",
        ),
    ],
)
def test_settings_that_cannot_be(refused, line, message):
    assert message in refused(*_words(line))


# ------------------------------------------------------------------------------------------------------ recorded series


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,value\n0,0.1\n1,nan\n", "wind.csv, line 3: ['1', 'nan']: a recorded series must be finite"),
        ("0,0.1\n1,inf\n", "wind.csv, line 2: ['1', 'inf']: a recorded series must be finite"),
        ("time,value\n0,0.1\n1,\n", "wind.csv, line 3: ['1', ''], expected numbers in columns 0 and 1"),
        ("0,0.1\n1,0.2\n1,0.3\n", "wind.csv, line 3: ['1', '0.3']: the times must increase"),
        ("", "wind.csv holds no series: expected lines of time [s] and value"),
    ],
)
def test_a_recorded_series_that_cannot_be_used(refused, text, message):
    Path("wind.csv").write_text(text)
    situation = "situations.taught={gust: {excitation: {kind: recorded, file: wind.csv}}}"
    assert message in refused("design", situation)
    assert message in refused("simulate", "excitation.kind=recorded", "excitation.file=wind.csv")


def test_a_recorded_series_that_is_no_text(refused):
    Path("wind.csv").write_bytes(b"\x93NUMPY\x01\x00\xff\xfe")
    error = refused("simulate", "excitation.kind=recorded", "excitation.file=wind.csv")
    assert "wind.csv is no UTF-8 text" in error


# ------------------------------------------------------------------------------------------------------ knowledge bases


def edit(document, *way):
    """Set an entry of a nested document: its place, then its value."""
    *places, key, value = way
    for place in places:
        document = document[place]
    document[key] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("schema", 99), "this program reads knowledge bases of schema 1, 2, 3, got schema 99"),
        (("format", "a cooking recipe"), "format: expected 'sscq knowledge base', got 'a cooking recipe'"),
        (("plant", "fopdt"), "was changed after it was saved"),
        (
            ("channels", 0, "rules", 1, "gains", 0, "x"),
            "channels[0].rules[1].gains[0]: expected a finite number, got 'x'",
        ),
        (("tick", -1.0), "tick must be a positive number or None, got -1.0"),
    ],
)
def test_a_knowledge_base_with_another_content(refused, kb_file, change, message):
    document = json.loads(kb_file.read_text())
    edit(document, *change)
    kb_file.write_text(json.dumps(document))
    error = refused("evaluate", f"kb={kb_file}")
    assert message in error
    assert str(kb_file) in error


def test_a_knowledge_base_that_is_truncated_or_something_else(refused, kb_file):
    kb_file.write_text(kb_file.read_text()[:700])
    assert f"{kb_file} is not complete JSON" in refused("evaluate", f"kb={kb_file}")
    kb_file.write_text("[1, 2]")
    assert "expected a JSON mapping, got list" in refused("evaluate", f"kb={kb_file}")
    kb_file.write_bytes(b"\xff\xfe\x00")
    assert f"{kb_file} is not complete JSON" in refused("evaluate", f"kb={kb_file}")


# --------------------------------------------------------------------------------------------------------- plant files

RATES = "return (u[0] - x[0],)"
BLOCKS = [
    ("return u[0] - x[0], x[0]", "tank.py:5: derivative must return 1 (one rate per state (level)), got 2"),
    ("return ()", "tank.py:5: derivative must return 1 (one rate per state (level)), got 0"),
    ("return None", "tank.py:5: derivative must return a number or a tuple of numbers, got NoneType"),
    ("return (u[1] - x[0],)", "tank.py:6 in derivative: IndexError: tuple index out of range; the block is called as"),
    ("return (u[0] - lvel,)", "tank.py:6 in derivative: NameError: name 'lvel' is not defined"),
]


@pytest.mark.parametrize(("rates", "message"), BLOCKS)
def test_a_plant_whose_derivative_cannot_be_used(capsys, refused, rates, message):
    Path("tank.py").write_text(TANK.replace(RATES, rates))
    for command in ("design", "simulate"):
        error = refused(command, "plant_file=tank.py", "plant=my_tank")
        assert error.startswith("error: plant 'my_tank' cannot be used (`sscq check tank.py` tests all of it):")
        assert message in error
    with pytest.raises(SystemExit) as stop:  # the command made for it says the same, and more
        cli.main(["check", "tank.py"])
    assert stop.value.code == 1
    assert message in capsys.readouterr().out


UNTRACED = [
    ("return (u[0] if x[0] > 0.0 else x[0],)", "tank.py:6 in derivative: comparison of a traced number; use where("),
    ("return (u[0] and x[0],)", "tank.py:6 in derivative: truth value (if, and, or, not"),
    ("return (float(x[0]),)", "tank.py:6 in derivative: conversion to a plain number of a traced number"),
]


@pytest.mark.parametrize(("rates", "message"), UNTRACED)
def test_a_plant_that_can_only_be_called_is_told_the_line(capsys, rates, message):
    Path("tank.py").write_text(TANK.replace(RATES, rates))
    cli.main(["check", "tank.py"])
    assert (
        f"advice: derivative of plant 'my_tank' is compiled by numba as it stands: {message}" in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (RATES, "return (u[0] - x[0]", "tank.py, line 6: '(' was never closed: return (u[0] - x[0]"),
        (
            "def derivative(t, x, u, w, p)",
            "def derivative(t, x, u, w)",
            "derivative() takes 4 positional arguments but 5",
        ),
        ('output="level"', 'output="levle"', "channel output 'levle' is not among its measurements ['level']"),
        ("high=1.0", "high=-1.0", "command limits must satisfy low < high, got 0.0, -1.0"),
        ("derivative=derivative,", "", "needs derivative"),
        ('name="my_tank"', 'name="van_der_pol"', "a plant called 'van_der_pol' is registered already"),
        ("plants.register(plants.Plant(", "plants.register(plants.Plnt(", "line 9: AttributeError"),
    ],
)
def test_a_plant_file_that_fails(refused, good, bad, message):
    assert good in TANK
    Path("tank.py").write_text(TANK.replace(good, bad))
    assert message in refused("simulate", "plant_file=tank.py", "plant=my_tank")


def test_a_plant_without_channels_can_be_simulated_but_not_controlled(refused):
    Path("tank.py").write_text(TANK.replace('channels=(plants.Channel(output="level", low=0.0, high=1.0),),', ""))
    error = refused("design", "plant_file=tank.py", "plant=my_tank")
    assert "plant 'my_tank' declares no control channel" in error
    cli.main(["simulate", "plant_file=tank.py", "plant=my_tank", "t_end=0.1", "output=run"])
    assert Path("run/trajectory.csv").exists()


def test_a_plant_that_breaks_its_contract_is_not_designed_for(refused):
    """An operating point of too many states; it was `zip() argument 2 is shorter than argument 1`, minutes later."""
    point = "operating_points=(plants.OperatingPoint('half', (0.5, 0.0)),)"
    Path("tank.py").write_text(TANK.replace("derivative=derivative,", f"derivative=derivative, {point},"))
    error = refused("design", "plant_file=tank.py", "plant=my_tank")
    assert "plant 'my_tank' breaks its contract: operating point" in error
    assert "must have" in error
    assert "`sscq check tank.py`" in error


def test_a_plant_that_the_file_does_not_give(refused):
    Path("tank.py").write_text(TANK)
    error = refused("design", "plant_file=tank.py", "plant=my_tnk")
    assert "no plant 'my_tnk'; did you mean 'my_tank'?" in error


def _words(settings):
    """Several settings in one line; blanks after a colon or a comma belong to a value."""
    return re.split(r"(?<![:,]) ", settings)
