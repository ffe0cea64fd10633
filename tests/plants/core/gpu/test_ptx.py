"""PTX of every family of kernels: no calls, rows in registers; where NVIDIA's assembler is at hand, no spills."""

import re
import shutil
import subprocess

import pytest

import plants
from benchmarks.engine.compilation import rules
from controllers import PID
from flcs import FuzzyController
from plants.core.gpu.ptx import SYMBOL, local_bytes, ptx
from plants.excitation import WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

PLAIN = Situation("plain", reference=0.4)
NOISY = Situation("noisy", reference=0.4, noise=0.01, excitation=WhiteNoise(0.3, hold=0.05))
FAMILIES = {
    "PID": (PID(), PLAIN, 0),
    "noise": (PID(), NOISY, 0),
    "delay": (PID(), Situation("late", delay=0.05), 6),
    "9 rules": (FuzzyController(rules(3)), PLAIN, 0),
    "49 rules": (FuzzyController(rules(7)), NOISY, 0),
}


def text_of(family):
    controller, situation, rings = FAMILIES[family]
    loop = ClosedLoop(plants.get("van_der_pol"), controller, (situation,), 0.01, device="cuda")
    return ptx(loop.device_text, rings), rings


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_registers_and_nothing_is_called(family):
    text, rings = text_of(family)
    assert f".entry {SYMBOL}(" in text
    assert not re.search(r"\bcall\b", text)
    assert local_bytes(text) == 8 * rings  # rings alone are memory


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_spills(family, tmp_path):
    (tmp_path / "kernel.ptx").write_text(text_of(family)[0])
    command = ["ptxas", "-v", "-arch=sm_90", str(tmp_path / "kernel.ptx"), "-o", str(tmp_path / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 bytes spill stores, 0 bytes spill loads" in done.stderr
