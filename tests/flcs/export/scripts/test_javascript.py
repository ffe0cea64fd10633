"""JavaScript does what was simulated: operations bit for bit, elementary functions to the last places, in Node."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import plants
from controllers import PID
from flcs.export.machine import Machine, MachinePart, MachineSignal, part
from flcs.export.plant import plant_machine
from flcs.export.proof import FAILED, OK, answer
from flcs.export.scripts import javascript
from plants.core import elementary
from plants.core.elementary import where
from tests.reference.exports import job_of, knowledge_base, page_job, page_lines
from tests.reference.machines import functions_machine, points, random_machine

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node")

PAGE = (Path(__file__).parents[4] / "docs/reference/exports/javascript.md").read_text()
FUNCTIONS = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan2": 2, "exp": 1, "log": 1, "sqrt": 1, "tanh": 1, "pow": 2,
    "abs": 1, "sign": 1, "floor": 1, "minimum": 2, "maximum": 2, "quotient": 2,
}  # fmt: skip


def in_node(machine, rows, folder):
    """Outputs of a machine's file in Node."""
    (folder / "machine.js").write_text(javascript.text(machine))
    (folder / "driver.js").write_text(javascript.driver_of(machine))
    command = ["node", str(folder / "driver.js"), str(folder / "machine.js")]
    return answer(command, rows, len(machine.outputs))


def run(text, folder):
    (folder / "main.js").write_text(text)
    done = subprocess.run(["node", "main.js"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("seed", range(6))
def test_operations_are_the_machines_bit_for_bit(seed, tmp_path):
    machine = random_machine(seed, without={"sin", "cos", "tanh"})
    rows = points(4)
    np.testing.assert_array_equal(in_node(machine, rows, tmp_path), machine.run(rows))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_pieces_are_the_whole_bit_for_bit(size, tmp_path, monkeypatch):
    """Conditions, values and inputs cross from piece to piece; memory is written when all has been read."""

    def body(m):
        both = where(m["a"] - 1.0, where(2.0 - m["b"], 1.0, 0.0), 0.0)
        m["c"], m["a"] = where(both, m["a"] * m["b"], m["c"]), m["c"] + m["b"] / m["a"]
        m["d"] = where(both, m["d"] - 1.0, m["a"]) * where(m["c"] - m["d"], 2.0, m["b"])

    names = ("b", "a", "c", "d")
    memory = dict.fromkeys(names, 0.5)
    outputs = tuple(MachineSignal(name) for name in names[1:])
    machine = Machine("m", "", (MachineSignal("b"),), outputs, memory, (part("one", body, names),), 1.0)
    rows = points(1, count=50)
    monkeypatch.setattr(javascript.chunked_function, "__defaults__", (size,))
    np.testing.assert_array_equal(in_node(machine, rows, tmp_path), machine.run(rows))
    assert javascript.text(machine).count("function one_") > 1
    random = random_machine(4, without={"sin", "cos", "tanh"})
    rows = points(4)
    np.testing.assert_array_equal(in_node(random, rows, tmp_path), random.run(rows))


def test_elementary_functions_agree_to_the_last_places(tmp_path):
    machine = functions_machine([(getattr(elementary, name), arity) for name, arity in FUNCTIONS.items()])
    rows = points(2, count=400)
    found, expected = in_node(machine, rows, tmp_path), machine.run(rows)
    # each side is within 1 ulp of the true value (the browser's own bound): 4 ulp apart would be another function
    for k, name in enumerate(FUNCTIONS):
        np.testing.assert_allclose(found[:, k], expected[:, k], rtol=4 * 2.3e-16, atol=0.0, err_msg=name)


def test_the_proof_holds_and_finds_a_changed_file(job, tmp_path):
    (file,) = javascript.files(job).items()
    (tmp_path / file[0]).write_text(file[1])
    proof = javascript.prove(job, tmp_path)
    assert (proof.status, proof.reason) == (OK, "")
    assert proof.largest < 1e-13  # doubles: far below what is allowed
    for old, new in ((r"(?<=\d \* )s\d+", "2"), (r"% 3 === 0", "% 2 === 0"), (r"\? (s\d+) : s\d+", r"? \1 : \1")):
        text, count = re.subn(old, new, file[1])
        assert count, old
        (tmp_path / file[0]).write_text(text)
        assert javascript.prove(job, tmp_path).status == FAILED


def test_a_plant_whose_names_are_no_identifiers(tmp_path):
    """Heaters 1 and 2 have names with spaces; every slot is an identifier, and the answers are the simulator's."""
    job = job_of(
        knowledge_base("heater", law=PID(sample_time=1.0), tick=1.0), ({"t_end": 60.0, "noise": 0.1},), step=0.5
    )
    assert {"r_sensor_1", "sensor_2", "track_sensor_2"} <= {signal.name for signal in job.machine.inputs}
    seen = job.recordings[0]
    assert np.ptp(seen.inputs[:, [s.name for s in job.machine.inputs].index("sensor_1")]) > 0.1
    assert np.isfinite(seen.outputs[:, [s.name for s in job.machine.outputs].index("command_sensor_1")]).all()
    for name, text in javascript.files(job).items():
        (tmp_path / name).write_text(text)
    assert javascript.prove(job, tmp_path).status == OK


def test_without_node_nothing_is_said_to_be_right(job, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert javascript.prove(job, tmp_path).status == "not checked"


def test_names_that_the_language_has_taken_are_refused():
    def machine(slot, part_name):
        program = part("one", lambda m: m.__setitem__(slot, 1.0), [slot])
        one = MachinePart(part_name, program.program, (slot,))
        return Machine("m", "", (), (MachineSignal(slot),), {slot: 0.0}, (one,), 1.0)

    assert "class Machine" in javascript.text(machine("a", "one"))
    with pytest.raises(ValueError, match="letters, digits and underscores, got 'new'"):
        javascript.text(machine("new", "one"))
    with pytest.raises(ValueError, match="must not be called step"):
        javascript.text(machine("a", "step"))


def test_the_page_shows_a_controller_that_runs(tmp_path):
    program, _ = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    job = page_job()
    (tmp_path / "van_der_pol_controller.js").write_text(javascript.text(job.machine))
    assert run(program, tmp_path) == page_lines(job)


def test_the_page_shows_a_plant_that_runs(tmp_path, monkeypatch):
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(source, {})
    (line,) = run(re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)[1], tmp_path)
    machine = plant_machine(plants.get("pendulum"), step=0.01)
    memory = dict(machine.memory) | {"p_damping": 0.2, "x_angle": 1.0}
    last = Machine(machine.name, "", machine.inputs, machine.outputs, memory, machine.parts, 0.01).run(
        [[0.0, 0.0]] * 101
    )
    assert line == f"{last[-1, 0]:.6f}"
