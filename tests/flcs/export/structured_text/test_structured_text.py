"""Structured Text: the printed block does what was simulated, and the interpreter does what the standard says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flcs.export.c import programs, source
from flcs.export.machine import Machine, MachineSignal, part
from flcs.export.proof import FAILED, OK, answer
from flcs.export.structured_text import function_block, target
from flcs.export.structured_text.function_block import RESERVED, identifiers
from flcs.export.structured_text.interpreter import load
from flcs.export.structured_text.syntax import StructuredTextError
from flcs.export.structured_text.target import BOUNDS, TARGETS, files, prove
from plants.core import elementary
from plants.core.elementary import floor, sign, where
from tests.reference.exports import page_job, page_lines
from tests.reference.machines import functions_machine, points, random_machine

PAGE = (Path(__file__).parents[4] / "docs/reference/exports/structured_text.md").read_text()
LREAL, REAL = target.TARGETS.values()


def block(body, *declarations, kind="LREAL"):
    """A function block with inputs a and b and the output y."""
    more = "".join(f"VAR_TEMP {line} END_VAR\n" for line in declarations)
    head = f"VAR_INPUT a, b : {kind}; END_VAR VAR_OUTPUT y : {kind}; END_VAR\n"
    return f"FUNCTION_BLOCK test\n{head}{more}{body}\nEND_FUNCTION_BLOCK\n"


def value(expression, a=0.0, b=0.0, kind="LREAL"):
    (found,) = load(block(f"y := {expression};", kind=kind))({"a": a, "b": b})
    return found


# ------------------------------------------------------------------------------------------------- the interpreter


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1.0 + 2.0 * 3.0", 7.0),
        ("(1.0 + 2.0) * 3.0", 9.0),
        ("8.0 / 4.0 / 2.0", 1.0),  # from the left
        ("10.0 - 4.0 - 3.0", 3.0),
        ("-2.0 + 5.0", 3.0),
        ("2.0 * -3.0", -6.0),
        ("2.0 ** 3.0", 8.0),
        ("a - b * 2.0", -1.0),
        ("1_000.5E-1", 100.05),
        ("ABS(a - 4.0) + SQRT(b + 2.0)", 3.0),
        ("LINT_TO_LREAL(LREAL_TO_LINT(2.5) + LREAL_TO_LINT(3.5))", 6.0),  # halves to even
        ("DINT_TO_LREAL(LREAL_TO_DINT(a + 6.0) MOD 4)", 1.0),
    ],
)
def test_expressions(expression, expected):
    assert value(expression, a=3.0, b=2.0) == expected


def test_precedence_of_logic():
    """AND binds stronger than XOR, XOR than OR; comparisons stronger than all; NOT stronger than AND."""
    text = block("IF a > 0.0 OR a > 1.0 XOR b > 0.0 AND NOT b > 1.0 = FALSE THEN y := 1.0; END_IF;")
    with pytest.raises(StructuredTextError, match="expected BOOL, got LREAL"):  # NOT b: the nearest operand
        load(text)
    text = block("IF a > 0.0 OR a > 1.0 XOR b > 0.0 AND NOT (b > 1.0) THEN y := 1.0; ELSE y := 0.0; END_IF;")
    for a in (-1.0, 0.5, 2.0):
        for b in (-1.0, 0.5, 2.0):
            expected = (a > 0.0) or ((a > 1.0) ^ ((b > 0.0) and not b > 1.0))
            assert load(text)({"a": a, "b": b}) == (float(expected),)


def test_real_has_single_precision():
    assert value("a + 1.0", a=2.0**24, kind="REAL") == 2.0**24
    assert value("a", a=0.1, kind="REAL") == float(np.float32(0.1))
    assert value("a * 10.0", a=3e38, kind="REAL") == np.inf
    rng = np.random.default_rng(4)
    for a, b in rng.normal(size=(200, 2)).astype(np.float32):
        for sign_, function in (("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)):
            assert value(f"a {sign_} b", float(a), float(b), "REAL") == float(function(a, b))


def test_memory_lives_between_calls_and_temporaries_do_not():
    text = block("t := n + 1.0; n := t; y := n;", "t : LREAL;")
    text = text.replace("VAR_TEMP", "VAR n : LREAL := 5.0; END_VAR VAR_TEMP", 1)
    counter = load(text)
    assert [counter({})[0] for _ in range(3)] == [6.0, 7.0, 8.0]
    assert counter["n"] == 8.0
    with pytest.raises(StructuredTextError, match=r"read before it is written, one of \['T'\]"):
        load(block("y := t + a;", "t : LREAL;"))({})


def test_functions_have_no_memory():
    text = "FUNCTION twice : LREAL VAR_INPUT x : LREAL; END_VAR twice := twice + 2.0 * x; END_FUNCTION\n"
    instance = load(text + block("y := twice(twice(a));"))
    assert [instance({"a": 1.5})[0] for _ in range(2)] == [6.0, 6.0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y := a + 1;", "LREAL and any integer; types must agree"),
        ("y := a > b;", "expected LREAL, got BOOL"),
        ("y := c;", "line 3: C is not declared"),
        ("a := 1.0;", "A is an input"),
        ("y := a", r"expected ;, got 'END_FUNCTION_BLOCK'"),
        ("IF a THEN y := b; END_IF;", "expected BOOL, got LREAL"),
        ("IF a > b THEN y := b;", "expected an identifier|got"),
        ("y := TANH(a);", "no function TANH of 1"),
        ("y := EXP(a, b);", "no function EXP of 2"),
        ("y := a MOD b;", "LREAL has no MOD"),
        ("y := a ? b;", r"unexpected '\?'"),
        ("step := 1.0;", "expected an identifier, got 'STEP'"),
        ("y := REAL_TO_LREAL(a);", "expected REAL, got LREAL"),
    ],
)
def test_what_the_standard_refuses_is_refused(body, message):
    with pytest.raises(StructuredTextError, match=message):
        load(block(body))


def test_inputs_are_checked():
    with pytest.raises(StructuredTextError, match="TEST has no input 'c'"):
        load(block("y := a;"))({"c": 1.0})


# ----------------------------------------------------------------------------------------------------- the printer


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 6])  # 1 has an infinite constant, which no Structured Text has
def test_operations_are_the_machines_bit_for_bit(seed):
    machine, rows = random_machine(seed, without={"tanh"}), points(4)
    np.testing.assert_array_equal(target.interpreted(machine, function_block.text(machine), rows), machine.run(rows))


def test_functions_that_the_standard_lacks_are_written_in_its_own():
    machine = functions_machine([(getattr(elementary, name), n) for name, n in (("tanh", 1), ("atan2", 2))])
    rows = np.random.default_rng(2).normal(size=(300, 2))
    text = function_block.text(machine)
    assert text.count("END_FUNCTION\n") == 2
    found = target.interpreted(machine, text, rows)
    # some roundings of numbers below pi
    np.testing.assert_allclose(found, machine.run(rows), rtol=0.0, atol=2e-15)
    whole = functions_machine([(floor, 1), (sign, 1)])
    rows = points(2, count=200)
    np.testing.assert_array_equal(target.interpreted(whole, function_block.text(whole), rows), whole.run(rows))


def test_names_are_different_whatever_their_case_and_none_is_taken():
    found = identifiers(["step", "position", "Position", "V10", "a__b", "last_"], ("van",))
    assert found == {
        "step": "step_x", "position": "position", "Position": "Position_x", "V10": "V10_x", "a__b": "a_b",
        "last_": "last",
    }  # fmt: skip
    lowered = [name.lower() for name in found.values()]
    assert len(set(lowered)) == len(lowered)
    assert not RESERVED & set(lowered)
    with pytest.raises(ValueError, match="got 'a b'"):
        identifiers(["a b"])


def test_a_slot_that_is_read_and_written_is_read_first():
    names = ("a", "before", "y")

    def swap(m):
        m["y"] = m["before"] + 0.0 * m["a"]
        m["before"] = m["a"]

    memory = dict.fromkeys(names, 0.0)
    machine = Machine(
        "swap", "", (MachineSignal("a"),), (MachineSignal("y"),), memory, (part("one", swap, names),), 1.0
    )
    found = target.interpreted(machine, function_block.text(machine), [[1.0], [2.0], [3.0]])
    assert found.ravel().tolist() == [0.0, 1.0, 2.0]


def test_what_has_no_form_is_refused():
    assert "y : LREAL := 1.0E-30;" in function_block.text(_plain(1e-30))
    with pytest.raises(ValueError, match="no constant for inf"):
        function_block.text(_plain(float("inf")))
    with pytest.raises(ValueError, match="no constant for inf"):
        function_block.text(random_machine(1, without={"tanh"}))
    with pytest.raises(ValueError, match="no value in REAL"):
        function_block.text(_plain(1e300), "REAL")
    memory = {"a": 0.0}
    writes = part("one", lambda m: m.__setitem__("a", where(m["a"], 1.0, 0.0)), memory)
    with pytest.raises(ValueError, match="one writes the input a"):
        function_block.text(Machine("m", "", (MachineSignal("a"),), (), memory, (writes,), 1.0))


def _plain(value):
    one = part("one", lambda m: m.__setitem__("y", m["y"]), ["y"])
    return Machine("m", "", (), (MachineSignal("y"),), {"y": value}, (one,), 1.0)


def test_restart_begins_again(job):
    rows = next(iter(job.sequences.values()))[:40]
    text = function_block.text(job.machine)
    instance, names = load(text), [signal.name for signal in job.machine.inputs]
    first = [instance(dict(zip(names, row, strict=True))) for row in rows]
    for k, row in enumerate(rows):  # at an odd sample, so that the schedule's tick begins again as well
        again = instance({**dict(zip(names, row, strict=True)), "restart": k == 0})
        assert again == first[k]


# ------------------------------------------------------------------------------------------------------- the proof


@pytest.mark.parametrize("target", target.TARGETS)
def test_the_proof_holds_and_finds_a_changed_file(job, tmp_path, target):
    real = TARGETS[target]
    ((name, text),) = files(job, real).items()
    (tmp_path / name).write_text(text)
    proof = prove(job, tmp_path, real)
    assert (proof.status, proof.reason) == (OK, "")
    assert proof.checker.startswith("own interpreter")
    assert proof.largest < (1e-13 if real == LREAL else BOUNDS[REAL])
    changes = {
        r"MOD 3 = 0": "MOD 2 = 0",
        r"(?<=gain_kp := )\w+": "1.0 + 0.0",
        r"END_IF;\n": "\n",
        r"(?<=VAR_TEMP\n)    \w+, ": "    ",
    }
    for old, new in changes.items():
        changed, count = re.subn(old, new, text)
        assert count, old
        (tmp_path / name).write_text(changed)
        assert prove(job, tmp_path, real).status == FAILED, old


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_real_is_the_c_of_single_precision_bit_for_bit(job, tmp_path):
    for name, text in source.texts(job.machine, "float").items():
        (tmp_path / name).write_text(text)
    (tmp_path / "driver.c").write_text(programs.driver(job))
    sources = [str(tmp_path / f"{job.machine.name}.c"), str(tmp_path / "driver.c"), "-lm", "-o", str(tmp_path / "run")]
    subprocess.run(["gcc", "-std=c99", "-O1", "-ffp-contract=off", *sources], check=True)
    text = function_block.text(job.machine, REAL)
    for rows in job.sequences.values():
        ours = target.interpreted(job.machine, text, rows[:400])
        np.testing.assert_array_equal(ours, answer([str(tmp_path / "run")], rows[:400], ours.shape[1]))


def test_an_independent_grammar_reads_it(job):
    pytest.importorskip("tree_sitter_iec61131_3_st", reason="the grammar is not installed (extra exports)")
    everything = functions_machine([(getattr(elementary, n), 1 + (n == "atan2")) for n in ("tanh", "atan2", "floor")])
    for machine in (job.machine, everything):
        for real in (LREAL, REAL):
            assert target.refused_by_grammar(function_block.text(machine, real)) == ""
    text = function_block.text(job.machine)
    assert "refuses" in target.refused_by_grammar(text.replace("END_IF;", "", 1))
    program = re.findall(r"```text\n(PROGRAM.*?)```", PAGE, re.DOTALL)[0]
    assert target.refused_by_grammar(program) == ""


def test_the_page_shows_the_head_of_a_block_and_a_program_that_runs(tmp_path):
    job = page_job()
    text = function_block.text(job.machine)
    head = re.findall(r"```text\n(\(\* Fuzzy.*?)```", PAGE, re.DOTALL)[0]
    assert text.startswith(head)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "van_der_pol_controller.st").write_text(text)
    command = [
        sys.executable,
        "-c",
        f"import os, sys; sys.path.insert(0, os.getcwd()); os.chdir({str(tmp_path)!r})\n{program}",
    ]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines == page_lines(job)
