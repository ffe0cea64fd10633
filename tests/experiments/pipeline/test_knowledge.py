"""The choice of inputs in a design: what is asked of it, what it leaves in the knowledge base."""

import json
from dataclasses import replace

import numpy as np
import pytest

from configs.schema import NetworkSettings as Asked
from experiments.pipeline.knowledge import with_needed_inputs
from experiments.pipeline.refining import completed
from experiments.report.sections.learning import input_rows, sentences
from experiments.settings import setup
from flcs import NetworkConfig, TeachingRows, design
from tests.experiments.finished_run import configuration


def rows(n=200):
    """Gains that follow the error; its rate says nothing about them, the integral something."""
    rng = np.random.default_rng(2)
    inputs = rng.uniform(-1.0, 1.0, (n, 3))
    gains = np.column_stack([5.0 + 3.0 * inputs[:, 0], 1.0 + 0.5 * inputs[:, 2], 4.0 - 2.0 * inputs[:, 0]])
    names = ("error", "error_rate", "error_integral")
    return TeachingRows(inputs, gains, np.ones(n), np.arange(n) // 20, names, ("kp", "ki", "kd"))


def judge(kb):
    """The loop needs the error alone."""
    return 1.0 + 0.5 * ("e" not in kb.channels[0].input_names) + 0.001 * ("z" not in kb.channels[0].input_names)


ALL = NetworkConfig(inputs=("e", "e_rate", "z"), rounds=0, choose_inputs=True, prior_weight=5.0)


def chosen(config):
    kb = design(rows(), 0.0, 10.0, (5.0, 1.0, 4.0), config=config, tick=0.1)
    return with_needed_inputs(kb, rows(), config, 0, judge, judge, completed)


def test_information_and_the_loop_choose_and_the_record_stays():
    kb = chosen(ALL)
    assert kb.channels[0].input_names == ("e",)
    assert kb.training["rules"] == kb.n_rules  # imitated anew
    record = json.loads(json.dumps(kb.training["structure"]))["channel 1"]
    assert [name for name, one in record["information"].items() if one["kept"]] == ["e", "z"]
    assert record["inputs"]["z"]["taught"] == pytest.approx(0.001)
    assert not record["inputs"]["z"]["kept"]
    rows_of_page = {row.name: row for row in input_rows(kb.training)}
    assert [row.kept for row in rows_of_page.values()] == [True, False, False]
    assert rows_of_page["e_rate"].text == "left out: it tells no more about the gains than chance"
    assert np.isnan(rows_of_page["e_rate"].taught)
    assert rows_of_page["e"].information > rows_of_page["e"].threshold


def test_inputs_that_are_worth_it_stay_and_nothing_is_imitated_again():
    config = replace(ALL, input_loss=0.0005)
    kb = design(rows(), 0.0, 10.0, (5.0, 1.0, 4.0), config=config, tick=0.1)
    same = with_needed_inputs(kb, rows(), config, 0, judge, judge, completed)
    assert same.channels == kb.channels
    assert chosen(replace(config, max_inputs=1)).channels[0].input_names == ("e",)


def test_fewer_sensors_alone_drop_only_the_surplus():
    kb = chosen(replace(ALL, choose_inputs=False, max_inputs=2))
    assert kb.channels[0].input_names == ("e", "z")


def test_lines_say_what_was_found():
    class Result:
        kb, curve = chosen(ALL), None

    lines = sentences({"equal": Result})
    assert len(lines) == 3
    assert lines[0].startswith("input e: tells ")
    assert lines[0].endswith("kept: the only input left")
    assert lines[2].endswith("without it +0.1 % (validation +0.1 %); left out: the closed loop does not need it")


def test_settings_reach_the_network():
    asked = Asked(
        inputs=["e", "position"], terms=None, shape="search", choose_inputs=True, max_inputs=1, input_loss=0.02, merge_within=0.01,
        rule_loss=0.03,
    )  # fmt: skip
    network = setup(configuration(network=asked)).network
    assert (network.inputs, network.terms, network.shape) == (("e", "position"), None, "search")
    assert (network.choose_inputs, network.max_inputs, network.input_loss) == (True, 1, 0.02)
    assert (network.rule_loss, network.merge_within) == (0.03, 0.01)
