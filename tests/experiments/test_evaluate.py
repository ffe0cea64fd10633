"""The command that judges a stored knowledge base: its numbers are the library's, its losses are marked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import plants
import sscq
from controllers import PID
from experiments import evaluate
from experiments.runtime.run_folder import RunFolder, read_record
from flcs import FuzzyController
from plants.core import registry
from sscq.fitness import Fitness

pytestmark = pytest.mark.usefixtures("own_folder")

SITUATIONS = "situations.unforeseen={up: {reference: 1.5, t_end: 2}, back: {initial: [1.5, 0], t_end: 2}}"
WORDS = ("step=0.02", "seeds=2", SITUATIONS, "controller.own_gains=[0.5, 0.1, 0.1]", "threads=1")
SAME = (
    sscq.Situation(name="up", reference=1.5, t_end=2.0),
    sscq.Situation(name="back", initial=(1.5, 0.0), t_end=2.0),
)


def judged(kb_file, *words, output="run"):
    evaluate.main([f"kb={kb_file}", f"output={output}", *WORDS, *words])
    return json.loads((Path(output) / "metrics.json").read_text())


def test_the_numbers_are_those_of_the_library(capsys, kb_file, knowledge_base):
    found = judged(kb_file)["controllers"]
    plant, fitness = plants.get("van_der_pol"), Fitness(entropy_weight=0.15)
    quality = sscq.evaluate(plant, FuzzyController(knowledge_base), None, SAME, step=0.02)
    fixed = sscq.evaluate(plant, PID(), [(4.0, 0.5, 3.0), (0.5, 0.1, 0.1)], SAME, step=0.02)
    each = {
        "knowledge_base": fitness.per_situation(quality)[:, 0], "reference": fitness.per_situation(fixed)[:, 0],
        "own": fitness.per_situation(fixed)[:, 1],
    }  # fmt: skip
    for name, values in each.items():
        numbers = found[name]["unforeseen"]
        assert numbers["situations"] == dict(zip(("up", "back"), values, strict=True)), name
        assert numbers["fitness"] == pytest.approx(values.mean(), rel=1e-15)
    assert found["knowledge_base"]["unforeseen"]["measures"]["iae"] == pytest.approx(quality.iae.mean(), rel=1e-15)
    printed = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in printed.splitlines()}
    assert "LOSS" in lines["your present gains"]
    assert lines["up"].count("LOSS") == 1 + (each["knowledge_base"][0] > each["reference"][0])
    assert "numbers: run/metrics.json" in printed


def test_the_words_of_the_manual_choose_the_set(kb_file):
    by_situations = judged(kb_file, "situations=unforeseen", output="a")
    by_sets = judged(kb_file, "sets=unforeseen", output="b")
    assert by_situations == by_sets
    taught = "situations.taught={up: {reference: 1.5, t_end: 2}}"
    assert set(judged(kb_file, taught, "situations=taught", output="c")["seeds"]) == {"taught"}


def test_a_resumed_run_gives_the_same_bytes(kb_file):
    judged(kb_file)
    before = Path("run/metrics.json").read_bytes()
    Path("run/metrics.json").unlink()
    evaluate.main(["resume=run"])
    assert Path("run/metrics.json").read_bytes() == before


def test_what_was_not_taught_is_said(capsys, knowledge_base, monkeypatch):
    plant = plants.get("van_der_pol")
    changed = replace(plant, parameters=(replace(plant.parameters[0], nominal=1.5),))
    monkeypatch.setattr(registry, "_PLANTS", registry.snapshot() | {"van_der_pol": changed})
    replace(knowledge_base, valid_range={"delay": [0.1, 0.2], "noise": [0.0, 0.0]}).save("delayed.json")
    warnings = judged("delayed.json")["warnings"]
    assert warnings == [
        "the plant is not the one of the design: mu = 1.5 (designed with 1)",
        "delay outside what was taught (0.1 .. 0.2): up, back",
    ]
    assert f"warning: {warnings[0]}" in capsys.readouterr().out


def test_a_knowledge_base_that_does_not_fit_is_refused(refused, kb_file, tmp_path):
    assert "give a knowledge base: kb=PATH" in refused("evaluate")
    assert "designed for plant 'van_der_pol', got plant 'fopdt'" in refused("evaluate", f"kb={kb_file}", "plant=fopdt")
    assert "knowledge_base.json" in refused("evaluate", f"kb={tmp_path}")
    assert "no such file or directory: none.json" in refused("evaluate", "kb=none.json")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("controller.own_gains=[1]", "own_gains must be finite numbers for kp, ki, kd, got [1.0]"),
        ("controller.limits=[0,1]", "no setting 'controller.limits'"),
        ("step=0.1", "sample_time must be a multiple of the step, got a ratio of 0.2; give step=0.02, for"),
        ("sets=unforseen", "unforeseen, all, got 'unforseen'; did you mean 'unforeseen'?"),
        ("situations=unforseen", "no situations called 'unforseen'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(refused, kb_file, word, message):
    assert message in refused("evaluate", f"kb={kb_file}", word)


def test_a_fitness_of_another_program_is_refused(refused, knowledge_base):
    replace(knowledge_base, fitness={"smoothness": 1.0}).save("kb.json")
    assert "fitness has 'smoothness'" in refused("evaluate", "kb=kb.json")
    replace(knowledge_base, fitness={"kind": 3}).save("kb.json")
    assert "the knowledge base's fitness cannot be used" in refused("evaluate", "kb=kb.json")


def test_the_step_is_that_of_the_design_whose_folder_it_lies_in(kb_file, knowledge_base):
    RunFolder.create("design", command="design", config={"plant": "van_der_pol", "step": 0.004}).close()
    knowledge_base.save("design/knowledge_base.json")
    words = [SITUATIONS, "threads=1", "quiet=true"]
    for place, output, step in (
        ("design/knowledge_base.json", "refined", 0.004),
        (kb_file, "own", plants.get("van_der_pol").step),
    ):
        evaluate.main([f"kb={place}", f"output={output}", *words])
        quality = sscq.evaluate(plants.get("van_der_pol"), FuzzyController(knowledge_base), None, SAME, step=step)
        found = json.loads(Path(output, "metrics.json").read_text())["controllers"]["knowledge_base"]["unforeseen"]
        assert found["measures"]["iae"] == pytest.approx(quality.iae.mean(), rel=1e-12)
        assert read_record(output)["config"]["step"] == step
