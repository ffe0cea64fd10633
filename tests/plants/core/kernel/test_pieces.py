"""Long lane loops are cut into pieces: the same bits, vectorised, and no function longer than a piece."""

import random
import re

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.core.elementary import sin
from plants.core.kernel import lanes, machine_code
from plants.core.kernel.kernel import ARGUMENTS
from sscq.loop.closed_loop import ClosedLoop
from tests.plants.core.kernel.test_vectorised import PACKED, SCALAR
from tests.plants.core.printers.test_differential import INPUTS, points, same
from tests.reference.closed_loop_twin import uncompiled
from tests.reference.random_programs import grown

STEPS, OUTPUTS = 300, 40
CART = plants.get("cart_pole")
SITUATION = sscq.Situation("noisy", noise=0.01, delay=0.03, t_end=0.5)
GAINS = np.array([[30.0, 5.0, 8.0] * 2, [10.0, 0.0, 3.0] * 2])[:, : 3 * len(CART.channels)]


def block(*numbers):
    return tuple(grown(numbers, random.Random(4), STEPS)[-OUTPUTS:])


@pytest.fixture
def short(monkeypatch):
    """Every loop is too long."""
    monkeypatch.setattr(lanes, "LONGEST", 20)


def test_a_program_in_pieces_gives_the_same_bits(compiled, short, monkeypatch):
    rows = points(7)
    cut = compiled(block, len(INPUTS), OUTPUTS)
    assert cut.kernel.text.count("def block_") > 3
    for kernel in ("sincos", "pow"):
        assert f"def rows_k_{kernel}(" in cut.kernel.text
    monkeypatch.setattr(lanes, "LONGEST", 10**9)
    whole = compiled(block, len(INPUTS), OUTPUTS)
    assert "def block_" not in whole.kernel.text
    same(cut(*rows.T), whole(*rows.T))


def loop(**options):
    return ClosedLoop(CART, PID(), [SITUATION], CART.step, **options)


def test_a_closed_loop_in_pieces_gives_the_same_bits(short, monkeypatch):
    cut = loop().evaluate(GAINS, 1)
    with uncompiled(), np.errstate(all="ignore"):
        assert np.isfinite(loop(lanes=1).evaluate(GAINS[:1], 1).iae).all()  # as Python it runs, too
    monkeypatch.setattr(lanes, "LONGEST", 10**9)
    whole = loop().evaluate(GAINS, 1)
    for name, values in whole.until_lost.items():
        same(cut.until_lost[name], values)


def test_pieces_are_vectorised_and_short(compiled):
    """A loop beyond the limit by its own length, its kernels called beside it."""

    def long(a, b):
        for k in range(200):
            a, b = sin(a + 0.1 * k) * 0.5, b / (2.0 + a)
        return a, b

    kernel = compiled(long, 2, 2).kernel
    functions = re.split(r"^def ", kernel.text, flags=re.MULTILINE)
    pieces = [one for one in functions if one.startswith("block_")]
    assert len(pieces) > 10
    assert max(one.count("\n") for one in pieces) < 1000
    text = machine_code.assembly(kernel.text, ARGUMENTS)
    assert len(PACKED.findall(text)) > 2 * len(SCALAR.findall(text))


def test_usual_kernels_are_left_whole():
    assert "piece" not in loop().kernel.text
    assert "spill" not in loop().design.rows
