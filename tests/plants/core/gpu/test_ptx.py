"""PTX of every family of kernels: no calls, rows in registers; where NVIDIA's assembler is at hand, no spills."""

import re
import shutil

import pytest

from benchmarks.gpu.families import SMALL, assembled, text_of
from plants.core.gpu.ptx import SYMBOL, local_bytes


@pytest.mark.parametrize("family", SMALL)
def test_rows_are_registers_and_nothing_is_called(family):
    text, rings = text_of(family), SMALL[family][-1]
    assert f".entry {SYMBOL}(" in text
    assert not re.search(r"\bcall\b", text)
    assert local_bytes(text) == (8 << (rings - 1).bit_length() if rings else 0)  # rings alone are memory


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("family", SMALL)
def test_nothing_spills(family):
    assert assembled(text_of(family))["spilled"] == 0
