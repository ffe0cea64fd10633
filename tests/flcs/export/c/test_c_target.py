"""The C export does what was simulated, to the last bits; whatever is wrong with a file is found."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import plants
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.export import guard
from flcs.export.c import closed_loop, programs, source, target
from flcs.export.machine import Machine, MachineSignal
from flcs.export.proof import FAILED, OK
from flcs.inference.rule_base import Rule
from tests.reference.exports import job_of, knowledge_base, page_job, page_lines

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")


def written(job, folder, precision="double"):
    for name, text in target.files(job, precision).items():
        (folder / name).write_text(text)
    return folder / f"{job.machine.name}.c"


@pytest.mark.parametrize("precision", ["double", "float"])
def test_it_is_proved_and_small(job, tmp_path, precision):
    written(job, tmp_path, precision)
    proof = target.prove(job, tmp_path, precision)
    assert (proof.status, proof.reason) == (OK, "")
    assert proof.largest <= {"double": 1e-15, "float": 1e-4}[precision]
    assert set(proof.errors) == {signal.name for signal in job.machine.outputs}
    assert proof.numbers["rom_bytes"] < 8192
    assert proof.samples == 3 * 100 + 4000
    if precision == "double":
        assert set(proof.numbers["closed_loop"]) == {"s0", "s1"}
        assert max(proof.numbers["closed_loop"].values()) < 1e-12
        assert proof.numbers["closed_loop_left_out"] == {"s2": "delay between plant and controller"}


def test_elementary_functions_and_several_channels(tmp_path):
    job = job_of(knowledge_base("cart_pole", "gaussian"), ({"initial": [0.1, 0.0, 0.0, 0.0], "t_end": 0.3},))
    text = written(job, tmp_path).read_text()
    assert "k_exp(" in text
    proof = target.prove(job, tmp_path, "double")
    assert (proof.status, proof.reason) == (OK, "")


def test_no_library_is_needed(job, tmp_path):
    source = written(job, tmp_path)
    built = [*["gcc", "-std=c99", "-Os", "-ffp-contract=off", "-c"], str(source), "-o", str(tmp_path / "x.o")]
    subprocess.run(built, check=True)
    needed = subprocess.run(["nm", "-u", str(tmp_path / "x.o")], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"U (\w+)", needed)) <= {"memcpy"}


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (r"% 3u", "% 4u", "FAILED|differs"),  # the tick
        (r"(?<=K_FMA\()0\.\d+", "0.125", "FAILED|differs"),  # a consequent
        (r"static void act\(", "int unused; static void act(", "error|warning"),
        (r"out->fault = m\[\d+\];", "out->fault = 0.0;", "differs"),
    ],
)
def test_a_changed_file_is_found(job, tmp_path, old, new, word):
    source = written(job, tmp_path)
    text, count = re.subn(old, new, source.read_text())
    assert count, old
    source.write_text(text)
    proof = target.prove(job, tmp_path, "double")
    assert proof.status == FAILED or word.startswith("error")


def test_without_a_compiler_nothing_is_said_to_be_right(job, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert target.prove(job, tmp_path, "double").status == "not checked"


def test_hostile_inputs_are_stood_and_would_be_noticed(tmp_path, monkeypatch):
    def outcome(job):
        source = written(job, tmp_path)
        (tmp_path / "hostile.c").write_text(programs.hostile_program(job))
        files = [str(source), str(tmp_path / "hostile.c"), f"-I{tmp_path}", "-o", str(tmp_path / "hostile"), "-lm"]
        subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", *files], check=True)
        return subprocess.run([tmp_path / "hostile", "3000", "1"], capture_output=True, text=True, check=False)

    settings = guard.Guard(frozen_after=0.1, safe=(0.0,), ramp=5.0)
    done = outcome(job_of(knowledge_base(), ({"reference": 1.0},), settings))
    assert done.returncode == 0, done.stdout
    faults, trips = map(int, re.findall(r"(\d+) samples distrusted, (\d+) tripped", done.stdout)[0])
    assert faults > 3000 * 10
    assert trips > 3000
    monkeypatch.setattr(guard, "inside", lambda value, low, high: 1.0 + 0.0 * value)
    done = outcome(job_of(knowledge_base(), ({"reference": 1.0},), settings))
    assert done.returncode == 1
    assert re.match(r"sequence \d+, sample \d+: \w+ is", done.stdout)


def test_names_become_identifiers():
    machine = Machine("my controller", "", (MachineSignal("a"),), (MachineSignal("b"),), {"a": 0.0, "b": 0.0}, (), 0.01)
    files = source.texts(machine)
    assert {Path(name).stem for name in files} == {"my_controller"}
    assert not any("my controller" in line for text in files.values() for line in text.splitlines() if "*" not in line)


def test_a_loop_that_diverges_is_left_out(tmp_path):
    job = job_of(knowledge_base("cart_pole"), ({"initial": [0.0, 0.0, 1.0, 9.0], "t_end": 3.0},))
    written(job, tmp_path)
    found = closed_loop.closed(job, tmp_path)
    assert found.left_out == {"s0": "the simulated loop diverges"}
    assert found.errors == {}


@pytest.mark.parametrize("factor", [0.0, 1e8])
def test_a_loop_that_amplifies_roundings_is_left_out_and_a_wrong_one_is_not(tmp_path, monkeypatch, factor):
    """A loop in C that differs by 1e-6, and one that differs from itself by 1e-7 as well, begun 1e-15 beside."""
    job = job_of(knowledge_base(), ({"reference": 1.0, "t_end": 0.5},))
    written(job, tmp_path)
    begun = []

    def spoiled(program, job, one):
        begun.append(one.state)
        return one.outputs + 1e-6 + factor * np.abs(one.state - begun[0]).max()

    monkeypatch.setattr(closed_loop, "run", spoiled)
    found = closed_loop.closed(job, tmp_path)
    assert len(begun) == 2
    assert 0.0 < np.abs(begun[1] - begun[0]).max() < 1e-14
    if factor:
        assert found.errors == {}
        assert found.left_out["s0"].startswith("begun 1e-15 beside, the loop differs from itself by")
    else:
        assert found.errors["s0"] > closed_loop.CLOSED
        assert found.left_out == {}


def test_what_follows_the_input_at_once_is_looked_at_before_the_command(tmp_path):
    """The vehicle's slip that sensors see needs its acceleration: dry ground, noise, and the loop in C is the same."""
    plant = plants.get("balancing_vehicle")
    seen = Variable("slip_seen", "1", 0.0, 1.0, (0.05, 0.5))
    own = ((60.0, 0.0, 10.0), (18.0, 0.0, 0.0), (5.0, 5.0, 0.0))
    bases = tuple(
        RuleBase(c.output, (seen,), (Rule((0,), gains), Rule((1,), tuple(0.9 * g for g in gains))), (0.0,) * 3, (200.0,) * 3,
                 gains, law={"sample_time": 0.01})
        for c, gains in zip(plant.channels, own, strict=True)
    )  # fmt: skip
    kb = KnowledgeBase(plant.name, bases, tick=0.01, common_terms=True)
    noise = {"pitch": 0.003, "slip_seen": 0.015}
    job = job_of(kb, ({"reference": {"speed": 0.5}, "t_end": 1.0, "noise": noise},))
    written(job, tmp_path)
    found = closed_loop.closed(job, tmp_path)
    assert found.left_out == {}
    assert found.largest < closed_loop.CLOSED


def test_the_page_shows_a_program_that_runs(tmp_path):
    page = (Path(__file__).parents[4] / "docs/reference/exports/c.md").read_text()
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    job = page_job()
    source = written(job, tmp_path)
    (tmp_path / "main.c").write_text(program)
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", str(tmp_path / "main.c"), str(source), "-o"]
    subprocess.run([*command, str(tmp_path / "main")], check=True)
    lines = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines == page_lines(job)


def test_flags_count_in_single_precision_too(job, tmp_path):
    source = written(job, tmp_path, "float")
    source.write_text(re.sub(r"out->fault = m\[\d+\];", "out->fault = 0.0f;", source.read_text()))
    proof = target.prove(job, tmp_path, "float")
    assert proof.status == FAILED
    assert "fault" in proof.reason
