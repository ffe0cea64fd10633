"""The Python export: the machine's own operations bit for bit, without any package."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flcs.export.proof import FAILED, OK
from flcs.export.scripts import python
from plants.core import elementary
from tests.flcs.export.scripts.test_javascript import FUNCTIONS
from tests.reference.exports import page_job, page_lines
from tests.reference.machines import functions_machine, points, random_machine


def loaded(machine):
    namespace = {"__name__": "exported"}
    exec(python.text(machine), namespace)
    return namespace["Machine"]()


@pytest.mark.parametrize("seed", range(6))
def test_operations_are_the_machines_bit_for_bit(seed):
    machine, rows = random_machine(seed), points(4)
    np.testing.assert_array_equal(loaded(machine).run(rows.tolist()), machine.run(rows))


def test_elementary_functions_raise_nothing_and_have_ieee_results():
    machine = functions_machine([(getattr(elementary, name), arity) for name, arity in FUNCTIONS.items()])
    rows = points(2, count=500)
    found, expected = np.array(loaded(machine).run(rows.tolist())), machine.run(rows)
    for k, name in enumerate(FUNCTIONS):
        np.testing.assert_array_equal(found[:, k], expected[:, k], err_msg=name)


def test_the_proof_holds_and_finds_a_changed_file(job, tmp_path):
    ((name, text),) = python.files(job).items()
    (tmp_path / name).write_text(text)
    proof = python.prove(job, tmp_path)
    assert (proof.status, proof.reason) == (OK, "")
    assert proof.largest < 1e-13
    (tmp_path / name).write_text(re.sub(r"% 3 == 0", "% 2 == 0", text))
    assert python.prove(job, tmp_path).status == FAILED
    (tmp_path / name).write_text(f"import json\nimport plants\n{text}")
    proof = python.prove(job, tmp_path)
    assert proof.status == FAILED
    assert "No module named 'plants'" in proof.reason


def test_an_unknown_input_is_refused(job):
    with pytest.raises(KeyError, match="has no input 'postion'"):
        loaded(job.machine).step({"postion": 1.0})


def test_the_page_shows_a_program_that_runs(tmp_path):
    page = (Path(__file__).parents[4] / "docs/reference/exports/python.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    job = page_job()
    (tmp_path / "van_der_pol_controller.py").write_text(python.text(job.machine))
    (tmp_path / "main.py").write_text(program)
    done = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == page_lines(job)
