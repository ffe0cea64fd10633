"""First order plus dead time: its response in closed form, and what a dead time does to every kind of input."""

from __future__ import annotations

import numpy as np
import pytest

import plants
from plants.excitation import GaussianFilter, Recorded, Sine, Step

FORCE, LOAD = Sine(0.6, 0.21, 0.4), Sine(0.15, 0.13, 1.0)
T_END = 8.0


def test_first_order_process_moves_as_the_text_book_says():
    """Each sine arrives weaker by sqrt(1 + (w T)^2) and later by atan(w T); the rest decays with T."""
    gain, T, start = 1.5, 0.8, 0.4

    def settled(t):
        turns = [(part, 2.0 * np.pi * part.frequency) for part in (FORCE, LOAD)]
        return sum(
            gain * s.amplitude / np.hypot(1.0, w * T) * np.sin(w * t + s.phase - np.arctan(w * T)) for s, w in turns
        )

    expected = settled(T_END) + (start - settled(0.0)) * np.exp(-T_END / T)
    p = {"K": gain, "T": T, "L": 0.0}
    run = plants.simulate(plants.get("fopdt"), T_END, 0.005, (start,), p, inputs=(FORCE,), disturbances=(LOAD,))
    # rk4 at 5 ms on rates of a few 1/s is accurate to (0.02)^4, some 1e-8.
    assert run["output"][-1] == pytest.approx(expected, abs=3e-8)


DELAYED = {
    "smooth": Sine(1.3, 0.4, 0.7),
    "constant": 0.8,
    "step": Step(1.0, at=0.5),
    "recorded": Recorded((0.0, 0.5, 1.0), (0.2, 1.0, -1.0)),
    "random": GaussianFilter(0.3, 5.0),
    "array": np.linspace(1.0, -1.0, 41),
}


@pytest.mark.parametrize("kind", DELAYED)
def test_dead_time_shifts_what_reaches_the_plant(kind):
    """After seven steps of dead time, at rest until then, the output is what it would have been seven steps before."""
    given = DELAYED[kind]
    inputs = given if isinstance(given, np.ndarray) else (given,)
    late, soon = (
        plants.simulate(plants.get("fopdt"), 2.0, 0.05, parameters={"L": dead}, inputs=inputs, seed=4)["output"]
        for dead in (0.35, 0.0)
    )
    assert (late[:8] == 0.0).all()
    assert np.abs(soon).max() > 0.1
    np.testing.assert_allclose(late[7:], soon[:-7], atol=1e-13)


def test_a_dead_time_between_steps_keeps_the_integral_of_a_held_input():
    """K / T times the integral of the input is what the output of a slow plant has gathered."""
    slow = {"T": 1e3, "K": 1e3}
    held = Recorded((0.0, 0.5, 1.0), (1.0, 3.0, 0.0))
    for dead in (0.3, 0.32, 0.349):
        run = plants.simulate(plants.get("fopdt"), 3.0, 0.05, parameters={"L": dead, **slow}, inputs=(held,))
        assert run["output"][-1] == pytest.approx(2.0, rel=4e-3)  # decays by a part of 3 s / T
        area = np.trapezoid(run["output"], run.time)  # of the ramps that begin at L, L + 0.5, L + 1
        begin = 1.0 * (3.0 - dead) ** 2 / 2 + 2.0 * (2.5 - dead) ** 2 / 2 - 3.0 * (2.0 - dead) ** 2 / 2
        assert area == pytest.approx(begin, rel=4e-3)
