"""Some seconds of what `tests.endurance` does for hours, and that it notices what it looks for."""

import shutil

import numpy as np
import pytest

from flcs.export import guard
from flcs.export.structured_text import function_block, interpreter
from tests.endurance import exports, hostile, structured_text_in_c


def test_hostile_gains_move_no_neighbour():
    assert hostile.endure(500_000, seed=1) >= 500_000


def test_a_moved_bit_is_noticed():
    company = hostile.Company("fopdt", np.random.default_rng(0))
    company.alone[3, 0, 17] ^= 1
    with pytest.raises(hostile.Failure, match="moved by one of their neighbours"):
        company.call()


def test_a_fitness_that_is_not_finite_is_noticed(monkeypatch):
    monkeypatch.setattr(hostile.Fitness, "__call__", lambda *_: np.array([0.0, np.nan]))
    with pytest.raises(hostile.Failure, match="a tracking_and_entropy that is not finite"):
        hostile.Company("fopdt", np.random.default_rng(0)).call()


def installed():
    programs = (("c", "gcc"), ("st_c", "gcc"), ("js", "node"))
    return [name for name, program in programs if shutil.which(program)] + ["python", "st"]


def test_exports_stand_hostile_samples_and_agree():
    done, largest = exports.endure(2_000, installed())
    assert done >= 2_000
    assert largest < exports.AGREEMENT


BLOCK = (
    function_block.source(("atan2", "floor", "sign", "tanh"), "LREAL")
    + """
FUNCTION_BLOCK words
VAR_INPUT a : LREAL; b : LREAL; END_VAR
VAR_OUTPUT f1, f2, f3, f4, f5, f6, f7 : LREAL; END_VAR
VAR n : UDINT := 7; seen : BOOL := TRUE; END_VAR
VAR_TEMP t : BOOL; END_VAR
f1 := k_atan2(a, b); f2 := k_floor(a); f3 := k_sign(b); f4 := k_tanh(a);
t := NOT seen XOR (a < b) AND (a <> 0.0) OR (b = 1.0);
IF t THEN f5 := a ** 2.0; ELSIF a > 1.0 THEN f5 := -b; ELSE f5 := EXPT(ABS(b), a) / a; END_IF;
n := (n * 3 + 1) MOD 11; seen := t; f6 := UDINT_TO_LREAL(n); f7 := DINT_TO_LREAL(LREAL_TO_DINT(a * 0.5));
END_FUNCTION_BLOCK
"""
)


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
def test_structured_text_in_c_means_what_the_interpreter_reads(tmp_path):
    names = ["a", "b", *(f"f{k}" for k in range(1, 8))]
    driver = exports.DRIVER_ST.format(
        text=structured_text_in_c.translated(BLOCK), slots=", ".join(f"&b.st_{name}" for name in names),
        inputs="0, 1", outputs="2, 3, 4, 5, 6, 7, 8", n=2, m=7, width=4,
    )  # fmt: skip
    (tmp_path / "block.c").write_text(driver)
    rng = np.random.default_rng(0)
    rows = np.full((4000, 4), -1.0)
    rows[:, :2] = rng.choice([0.0, -0.0, 0.5, 1.0, -2.5, -3.0, 1e9, -1e200], (4000, 2)) + rng.choice(
        [-0.0, 0.3], (4000, 2)
    )
    block = interpreter.load(BLOCK)
    expected = np.array([block({"a": a, "b": b}) for a, b, *_ in rows.tolist()])
    np.testing.assert_array_equal(exports.compiled(tmp_path, "block.c")(rows), expected)


def test_an_output_beyond_its_limits_is_noticed(monkeypatch):
    monkeypatch.setattr(guard, "inside", lambda value, low, high: 1.0 + 0.0 * value)
    with pytest.raises(exports.Failure, match=r"python: sequence \d+, sample \d+: \w+ is"):
        exports.endure(2_000, ["python"])


def test_targets_that_do_not_agree_are_noticed():
    machine = exports.job_with(exports.LAWS[0]).machine
    watch, outputs = exports.Watch(machine, np.ones(len(machine.outputs))), np.zeros((2, 3, len(machine.outputs)))
    other = outputs.copy()
    other[1, -1, 1] = 1e-6
    assert watch.agree({"c": outputs, "js": outputs.copy()}) == 0.0
    with pytest.raises(exports.Failure, match="js and c: sequence 1 ends with command_position 1e-06 and 0.0"):
        watch.agree({"c": outputs, "js": other})
