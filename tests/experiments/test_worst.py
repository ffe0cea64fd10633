"""The command that looks for the worst situation, and the file that keeps it: replayed to the bit, or refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import plants
import sscq
from experiments import cli, replay, worst
from flcs.knowledge_base.files import content_hash
from plants.core import registry
from plants.core.tracing.tape import TracingError
from tests.reference.closed_loop_twin import uncompiled

pytestmark = pytest.mark.usefixtures("own_folder")

WORDS = (
    "step=0.02", "evaluations=60", "seed=3", "envelope.t_end=2", "envelope.parameters={mu: [0.5, 3]}",
    "against=reference", "threads=1",
)  # fmt: skip
FILE = Path("run/counter_example.json")


@pytest.fixture
def example(kb_file):
    """A stored counter-example."""
    cli.main(["worst", f"kb={kb_file}", "output=run", *WORDS])
    return json.loads(FILE.read_text())


def rewritten(example, **changes):
    """Write the counter-example with changes and a hash that fits them."""
    content = {**example, **changes}
    FILE.write_text(json.dumps({**content, "hash": content_hash(content)}))


def test_the_search_is_the_library_s_and_its_file_is_replayed_to_the_bit(capsys, kb_file, knowledge_base, example):
    printed = capsys.readouterr().out
    numbers = json.loads(Path("run/metrics.json").read_text())
    search, drawn, proof = numbers["search"], numbers["random_baseline"], numbers["certificate"]
    found, best = example["found"], max((search, drawn), key=lambda run: run["cost"] - run["reference_cost"])
    assert (found["judged"]["cost"], found["reference"]["cost"]) == (best["cost"], best["reference_cost"])
    assert example["situation"] == best["situation"]
    assert numbers["searched_beats_drawn"] == (best is search)
    assert proof["failure_bound"] == sscq.failure_bound(60, drawn["failures"], 0.95)
    assert (example["knowledge_base"]["hash"], example["step"]) == (knowledge_base.content_hash, 0.02)
    assert (example["units"]["parameters.mu"], example["units"]["delay"]) == ("N s/m", "s")
    for words in ("worst situation by the loss against the reference gains", "drawn at random", "mu = ",
                  f"{100 * proof['failure_bound']:.3g} % at 95 % confidence", "failures (divergence)"):  # fmt: skip
        assert words in printed
    (margins,) = numbers["margins"]["channels"]
    assert margins["channel"] == "position"
    assert f"  position: Ms {margins['sensitivity']:.3g} at position" in printed or "  position: UNSTABLE" in printed
    cli.main(["replay", str(FILE)])
    assert "the same to the last bit" in capsys.readouterr().out


def test_your_own_gains_are_judged_with_a_bound_on_the_cost(capsys, kb_file):
    """Weak gains: what is searched is worse than what is drawn, and the bound counts the draws above 4."""
    words = ("judged=own", "controller.own_gains=[0.5, 0.1, 0.1]", "fail_above=4", "against=cost", "evaluations=150")
    cli.main(["worst", f"kb={kb_file}", "output=run", *WORDS, *words])
    numbers, printed = json.loads(Path("run/metrics.json").read_text()), capsys.readouterr().out
    drawn, proof = numbers["random_baseline"], numbers["certificate"]
    assert numbers["searched_beats_drawn"]
    assert drawn["cost"] < numbers["search"]["cost"]
    assert drawn["reference_cost"] is None
    assert 0 < proof["failures"] < 150
    assert proof["failure_bound"] == sscq.failure_bound(150, proof["failures"])
    assert proof["failure"] in printed
    assert "worst of 150 drawn at random:" in printed
    cli.main(["replay", str(FILE)])
    assert "the same to the last bit" in capsys.readouterr().out


def test_what_differs_from_then_ends_with_1(capsys, example):
    found = {
        **example["found"],
        "judged": {**example["found"]["judged"], "cost": 1.001 * example["found"]["judged"]["cost"]},
    }
    rewritten(example, found=found)
    with pytest.raises(SystemExit) as stop:
        cli.main(["replay", str(FILE)])
    assert stop.value.code == 1
    printed = capsys.readouterr().out
    assert "NOT what was found then" in printed
    assert [line.split()[:2] for line in printed.splitlines() if "DIFFERS" in line] == [["judged", "cost"]]


def test_another_plant_of_the_same_name_is_told(capsys, monkeypatch, example):
    plant = plants.get("van_der_pol")

    def stiffer(t, x, u, w, p):
        rate, acceleration = plant.derivative(t, x, u, w, p)
        return rate, acceleration - 0.5 * x[0]

    monkeypatch.setattr(registry, "_PLANTS", registry.snapshot() | {"van_der_pol": replace(plant, derivative=stiffer)})
    with pytest.raises(SystemExit) as stop, uncompiled():
        cli.main(["replay", str(FILE)])
    assert stop.value.code == 1
    printed = capsys.readouterr()
    assert "the compiled simulation is another one" in printed.err
    assert "DIFFERS" in printed.out


def test_another_knowledge_base_is_refused_and_a_moved_one_is_found(capsys, refused, kb_file, knowledge_base, example):
    replace(knowledge_base, tick=0.02).save(kb_file)
    error = refused("replay", FILE)
    assert "is not the knowledge base of run/counter_example.json: expected sha256:" in error
    kb_file.unlink()
    cli.main(["replay", str(FILE)])  # with the copy in the run folder
    assert "the same to the last bit" in capsys.readouterr().out
    knowledge_base.save("moved.json")
    for copy in Path("run/inputs").iterdir():
        copy.unlink()
    assert "say where it is with --kb FILE" in refused("replay", FILE)
    cli.main(["replay", str(FILE), "--kb", "moved.json"])


def test_a_damaged_file_is_refused(refused, example):
    text = FILE.read_text()
    situation = example["situation"]
    FILE.write_text(text[: len(text) // 2])
    assert "is not complete JSON" in refused("replay", FILE)
    FILE.write_text(text.replace('"seed": 3', '"seed": 4'))
    assert "was changed after it was written" in refused("replay", FILE)
    for changes, message in (
        ({"schema": "sscq-stage"}, "must be of schema 'sscq-counter-example'"),
        ({"step": "0.02"}, "'step' is missing or of the wrong kind"),
        ({"code": "import os"}, "no counter-example has 'code'"),
        ({"situation": {**situation, "delay": None}}, "'situation' must give a finite number for each of"),
        ({"situation": {**situation, "delay": 5.0}}, "delay lies outside the file's envelope"),
        ({"envelope": {**example["envelope"], "delay": [0]}}, "delay must be [low, high]"),
        ({"fitness": {"smoothness": 1.0}}, "its fitness cannot be used"),
        ({"judged": "somebody"}, "there is no controller 'somebody'"),
    ):
        rewritten(example, **changes)
        assert message in refused("replay", FILE)


def test_a_resumed_run_gives_the_same_bytes(example):
    before = FILE.read_bytes(), Path("run/metrics.json").read_bytes()
    FILE.unlink()
    cli.main(["worst", "resume=run"])
    assert (FILE.read_bytes(), Path("run/metrics.json").read_bytes()) == before


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("judged=own", "judged=own needs your gains"),
        ("envelope.parameters={nu: [1, 2]}", "no name among the parameters of plant 'van_der_pol': 'nu'"),
        ("envelope.parameters={mu: [2, one]}", "envelope.parameters.mu must be [low, high] with low <= high"),
        ("envelope.delay=[0.1, 0]", "envelope.delay must be [low, high] with low <= high"),
        ("envelope.kinds=[stair]", "must be one of step, ramp, sine, got 'stair'"),
        ("evaluations=5", "evaluations must be at least 20, got 5"),
        ("confidence=1", "confidence must be above 0 and below 1"),
        ("step=0.03", "sample_time must be a multiple of the step"),
    ],
)
def test_settings_that_do_not_fit_are_refused(refused, kb_file, word, message):
    assert message in refused("worst", f"kb={kb_file}", word)
    assert not Path("runs").exists()


def test_a_gpu_that_is_not_there_or_does_not_do_is_refused_before_anything_runs(refused, monkeypatch, kb_file):
    def calls_a_function(design):
        raise TracingError("a GPU needs equations")

    monkeypatch.setattr("plants.core.gpu.driver.LIBRARIES", ("there-is-no-such-library.so",))
    assert "leave device=cuda out to run on the CPU" in refused("worst", f"kb={kb_file}", "device=cuda")
    monkeypatch.setattr("sscq.loop.closed_loop.device_text", calls_a_function)
    ranges = ("x=mu:[0.5,2]", "y=delay:[0,0.1]")
    for command, words in (("worst", ()), ("map", ranges)):
        monkeypatch.setattr(f"experiments.{command}.gpu", lambda: None)
        assert "a GPU needs equations" in refused(command, f"kb={kb_file}", *words, "device=cuda")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("cost", "failures", "fail_above", "said"),
    [(60.0, 0, None, True), (30.0, 0, None, False), (60.0, 1, None, False), (60.0, 0, 50.0, False)],
)
def test_costs_far_above_the_usual_without_divergence_are_told(cost, failures, fail_above, said):
    numbers = {
        "search": {"cost": cost}, "random_baseline": {"cost": 5.0, "median_cost": 4.0},
        "certificate": {"failures": failures, "failure": worst.failure(fail_above)},
    }  # fmt: skip
    lines = worst.caution(numbers)
    assert bool(lines) == said
    assert not said or "15 times the median of 4; say what is too much, such as fail_above=40" in lines[0]


def test_rounding_is_no_difference():
    assert replay.agree(1.0, 1.0 + 1e-9)
    assert not replay.agree(1.0, 1.0 + 1e-5)
    assert not replay.agree(None, 1.0)
    assert not replay.agree(True, False)
