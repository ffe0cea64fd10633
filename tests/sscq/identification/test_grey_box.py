"""Plants of known equations from a log: members, their file, and the plant of the design chain."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, gain_names
from plants.core.analysis.equilibrium import Equilibria
from plants.core.reading.files import FileError
from plants.identification.grey_box import GreyBox
from plants.identification.record import LoopRecord
from sscq.identification.grey_box.members import identify_grey
from sscq.identification.grey_box.plant import AT_REST, DEAD_TIME, grey_plant
from sscq.identification.grey_box.prior import GreyPrior
from sscq.identification.grey_box.scenario import grey_scenario
from sscq.identification.grey_box.stored import StoredGrey, grey_document, is_grey, load_grey
from sscq.identification.prior import LoopScales
from sscq.identification.promise import LoopScenario
from sscq.identification.stored import StoredLoop, load_ensemble

TANKS = plants.get("two_tanks")
HOLE, PUMP, GRAVITY = 1.4e-5, 3.0e-6, 9.80665  # what the log's own tanks have; nominal: 1.78e-5 and 3.3e-6
ROWS = 300
LOOP = StoredLoop((0.1, -2.0), (-9.0, 5.7), 1.0, (100.0, 2.0, 0.0), LoopScenario(200.0, 0.03, 0.6), (0.0, 0.05))


@pytest.fixture(scope="module")
def record():
    """Levels under PI control over three set points, of tanks with equations of their own (Euler, a hundredth of a second)."""
    rng, bias = np.random.default_rng(5), float(TANKS.inputs[0].nominal)
    upper, lower, integral = 0.1 * (HOLE / 1.781e-5) ** 2, 0.1, None
    measured, command = np.empty(ROWS), np.empty(ROWS)
    for k in range(ROWS):
        wanted = 0.1 if k < 60 else 0.14 if k < 180 else 0.08
        measured[k] = lower + 5e-4 * rng.standard_normal()
        integral = HOLE * np.sqrt(2.0 * GRAVITY * 0.1) / PUMP - bias if integral is None else integral
        command[k] = np.clip(100.0 * (wanted - measured[k]) + integral, -bias, 15.0 - bias)
        integral += 2.0 * (wanted - measured[k])
        for _ in range(100):
            between, out = (a * np.sqrt(2.0 * GRAVITY * max(h, 0.0)) for a, h in ((1.781e-5, upper), (HOLE, lower)))
            acting = command[max(k - 1, 0)]  # a second late
            upper += 0.01 * (PUMP * (bias + acting) - between) / 0.001552
            lower += 0.01 * (between - out) / 0.001552
    return LoopRecord(measured, command, 1.0)


@pytest.fixture(scope="module")
def ensemble(record):
    return identify_grey(GreyBox(TANKS, ("lower hole", "pump"), 1.0, loaded="inflow"), [record])


@pytest.fixture
def path(ensemble, tmp_path):
    file = tmp_path / "identified.json"
    file.write_text(json.dumps(grey_document(ensemble, LOOP)))
    return file


def test_the_parameters_of_the_log_lie_among_the_members(ensemble):
    assert ensemble.refusal == ""
    assert ensemble.untold == ()
    for name, true in (("lower hole", HOLE), ("pump", PUMP), ("dead_time", 1.0)):
        low, high = np.quantile(ensemble.column(name), [0.005, 0.995])
        assert low < true < high
    # Both are told to a part of what was known before, a factor of two.
    deviations = np.log(ensemble.parameters[:, :2]).std(axis=0)
    assert (deviations < 0.15).all()


def test_the_scenario_is_like_the_log(ensemble):
    found = grey_scenario(ensemble)
    assert 120.0 <= found.horizon <= ROWS
    assert 0.02 * 15.0 <= found.load <= 0.2 * 15.0
    assert found.set_point > 0.0


def test_a_command_that_does_not_matter_is_refused(record):
    rng = np.random.default_rng(2)
    other = LoopRecord(0.1 + 5e-4 * rng.standard_normal(ROWS), record.input, 1.0)
    refused = identify_grey(GreyBox(TANKS, ("lower hole",), 1.0, loaded="inflow"), [other]).refusal
    assert "the output hardly follows the command" in refused or "no two_tanks explains the log" in refused


def test_a_log_that_stands_still_is_refused(record):
    box = GreyBox(TANKS, ("lower hole",), 1.0)
    with pytest.raises(ValueError, match="the command does not move in any record"):
        identify_grey(box, [LoopRecord(record.output, np.zeros(ROWS), 1.0)])


def test_the_file_comes_back(ensemble, path):
    assert is_grey(path)
    found = load_grey(path)
    assert (found.plant, found.fitted, found.loaded, found.loop) == (
        "two_tanks",
        ("lower hole", "pump"),
        "inflow",
        LOOP,
    )
    assert (found.members == ensemble.parameters).all()
    with pytest.raises(FileError, match="members of a plant with equations"):
        load_ensemble(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fitted": []}, "fitted a list of parameters"),
        ({"fitted": ["pump"]}, "parameters must be those that are fitted"),
        ({"plant": 3}, "must be texts"),
        ({"members": [[1.0]]}, "must have 7 numbers"),
        ({"members": [[-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]}, "a time that is none"),
        ({"members": []}, "a list of 1 to"),
    ],
)
def test_a_file_that_is_none_is_refused(path, change, message):
    document = json.loads(path.read_text())
    document["grey_box"] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match=message):
        load_grey(path)


def test_members_begin_at_rest_and_draw_their_own_dead_time(path):
    plant = grey_plant(load_grey(path), TANKS)
    assert plants.check(plant).problems == []
    sets = plant.ranges.together
    assert {*sets[0]} == {"lower hole", "pump", DEAD_TIME, AT_REST}
    assert len({one[DEAD_TIME] for one in sets}) > 100
    for member in (sets[0], sets[7]):
        rest = Equilibria(plant, member).at([LOOP.rest[0]])
        assert rest.commands == pytest.approx([0.0], abs=1e-6)
        assert rest.state[1] == pytest.approx(LOOP.rest[0])


def test_the_present_gains_hold_the_members_at_the_scenario(path):
    plant = grey_plant(load_grey(path), TANKS)
    law = PID(limits=(plant.channels[0].low, plant.channels[0].high), sample_time=1.0)
    constant = Controller((law,), ConstantGains(gain_names((law,))))
    scenario = sscq.standard_sets(plant)["unforeseen"][0]
    several = [replace(scenario, name=f"{k}", parameters=one) for k, one in enumerate(plant.ranges.together[:20])]
    found = sscq.evaluate(plant, constant, np.array([[100.0, 2.0, 0.0]]), several, plant.step, measures=("iae",))
    assert not found.failed.any()


def test_a_refused_ensemble_gives_no_plant(path):
    with pytest.raises(ValueError, match="no controller follows from this log: too little"):
        grey_plant(replace(load_grey(path), refusal="too little"), TANKS)


def test_levels_in_another_unit_are_told(path):
    found = load_grey(path)
    with pytest.raises(ValueError, match=r"cannot rest at 10\.1.*is the output in the plant's unit"):
        grey_plant(replace(found, loop=replace(LOOP, rest=(10.1, 0.0))), TANKS)


def test_limits_of_the_loop_count_where_they_are_narrower(path):
    found = load_grey(path)
    plant = grey_plant(replace(found, loop=replace(LOOP, limits=(-5.0, 4.0))), TANKS)
    held = dict(zip([q.name for q in plant.parameters], plant.nominal(), strict=True))[AT_REST]
    assert (plant.channels[0].low + held, plant.channels[0].high + held) == pytest.approx((-5.0, 4.0))
    whole = grey_plant(replace(found, loop=replace(LOOP, limits=(-100.0, 100.0))), TANKS)
    assert (whole.channels[0].low + held, whole.channels[0].high + held) == pytest.approx(
        (TANKS.channels[0].low, TANKS.channels[0].high)
    )
    with pytest.raises(ValueError, match="beyond its limits"):
        grey_plant(replace(found, loop=replace(LOOP, limits=(2.0, 4.0))), TANKS)


@pytest.mark.parametrize("name", ["dc_motor", "magnetic_levitation", "equal_percentage_valve", "quarter_car", "cstr"])
def test_plants_of_all_kinds_keep_their_contract_with_two_parameters_more(name):
    """A measured rate, an unstable plant, a dead time of its own, mutually dependent accelerations, a stiff one."""
    base = plants.get(name)
    channel = base.channels[0]
    fitted = next(q.name for q in base.parameters if q.nominal > 0.0 and q.name != base.input_delay)
    level = base.measurements[base.index("measurements", channel.output)].nominal
    rest, step = float(Equilibria(base).at([level]).commands[0]), 4.0 * base.step
    value = base.nominal()[base.index("parameters", fitted)]
    members = np.array([[value * k, step, 1e-3 * channel.scale, 1e-2, 1e-3, 10.0 * step] for k in (0.99, 1.0, 1.01)])
    scenario = LoopScenario(200.0 * step, 0.1 * channel.scale, 0.01)
    loop = StoredLoop((level, rest), (channel.low, channel.high), step, None, scenario, (0.0, 0.1 * channel.scale))
    plant = grey_plant(StoredGrey(name, "", (fitted,), "", members, step, 0.05, "", loop), base)
    assert plants.check(plant).problems == []
    assert plant.channels[0].rate is None


def test_a_step_to_where_nothing_rests_is_left_out(path):
    found = load_grey(path)
    loop = replace(LOOP, rest=(0.02, LOOP.rest[1]), levels=(0.0, 0.05))  # 0.03 m below is beneath the tank
    plant = grey_plant(replace(found, loop=loop), TANKS)
    assert [one["name"] for one in plant.task.situations["unforeseen"]] == ["step and load", "to the highest level"]
    assert plant.ranges.reference["lower"][0] == pytest.approx(0.02)


def test_parameters_stay_within_their_bounds(record):
    narrow = replace(TANKS, parameters=tuple(replace(q, low=0.9 * q.nominal) for q in TANKS.parameters))
    box = GreyBox(narrow, ("pump",), 1.0)
    prior = GreyPrior(box, LoopScales.of([record]))
    draws = prior.draws(200, np.random.default_rng(0))
    assert np.exp(draws[:, 0]).min() >= 0.9 * box.nominal[0] * (1.0 - 1e-12)
    below = draws[:1].copy()
    below[0, 0] = np.log(0.89 * box.nominal[0])
    assert prior.log_density(below).tolist() == [-np.inf]
