"""Symbolic dynamics of chains: three derivations of one thing, and fewer operations than others' eliminations leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.mechanics import sharing
from plants.core.sharing.sharing import operations, shared

if TYPE_CHECKING:
    from plants.core.tracing.trace import Program

symengine = pytest.importorskip("symengine")


def points(program: Program) -> np.ndarray:
    return np.random.default_rng(6).uniform(0.5, 1.5, (5, len(program.inputs)))


REACHED = {(1, False): 29, (1, True): 28, (2, False): 84, (2, True): 73, (3, False): 163, (3, True): 139}


@pytest.mark.parametrize(("n", "expanded"), REACHED)
def test_fewer_operations_than_symengines_elimination_leaves(n, expanded):
    mass, forces = sharing.symbolic(n, expanded=expanded)
    alone = sharing.landed(mass, forces)
    ours, theirs = shared(alone), sharing.landed(mass, forces, symengine.cse)
    assert operations(ours) <= REACHED[n, expanded]  # a greedy search has no bound of its own: not to be lost unseen
    assert operations(ours) < operations(theirs) < operations(alone)
    for point in points(alone):
        # Mass matrices of three short links have conditions up to 1e3, expanded sums terms of 1e2: 1e-16 of each other.
        np.testing.assert_allclose(ours(*point), alone(*point), rtol=1e-10)
        np.testing.assert_allclose(theirs(*point), alone(*point), rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_tapes_own_derivatives_give_the_same_accelerations(n):
    own = sharing.on_the_tape(n)
    symbolic = sharing.landed(*sharing.symbolic(n, expanded=False))
    for point in points(own):
        np.testing.assert_allclose(own(*point), symbolic(*point), rtol=1e-10)  # as above
        np.testing.assert_allclose(shared(own)(*point), symbolic(*point), rtol=1e-10)


def test_one_pendulum_on_a_cart_has_the_textbooks_accelerations():
    """(m0 + m1) a + m1 l cos(q) b = f - d0 v + m1 l w^2 sin(q) and m1 l (cos(q) a + l b) = m1 l g sin(q) - d1 w."""
    p = {"q0": 0.1, "q1": 0.6, "v0": 0.3, "v1": -1.2, "m0": 1.5, "m1": 0.4, "l1": 0.7, "d0": 0.2, "d1": 0.05}
    p |= {"g": 9.81, "f": 2.0}
    own = sharing.on_the_tape(1)
    ml = p["m1"] * p["l1"]
    mass = [[p["m0"] + p["m1"], ml * np.cos(p["q1"])], [ml * np.cos(p["q1"]), ml * p["l1"]]]
    forces = [
        p["f"] - p["d0"] * p["v0"] + ml * p["v1"] ** 2 * np.sin(p["q1"]),
        ml * p["g"] * np.sin(p["q1"]) - p["d1"] * p["v1"],
    ]
    np.testing.assert_allclose(own(*(p[name] for name in own.inputs)), np.linalg.solve(mass, forces), rtol=1e-13)
