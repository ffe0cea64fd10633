"""The vehicle's studies: what its sentences say comes from the runs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.vehicles.balancing_vehicle import runs
from benchmarks.vehicles.balancing_vehicle.runs import PASSES_TRIED, SCHEMES, explicit, with_passes
from benchmarks.vehicles.balancing_vehicle.studies import HALVINGS, SCALES, StudyFindings, page
from experiments.runtime.timing import Timing
from plants.balancing_vehicle import BALANCING_VEHICLE, standing
from plants.core.kernel.kernel import LANES

STILL = (0.0, standing(0.1), (1.0, 0.5), (1.0, 1.0, 0.0, 0.0), BALANCING_VEHICLE.nominal())


def test_schemes_are_steps_of_one_vehicle():
    """All go to the same state as the step gets short; six passes are the plant's own."""
    rates = np.array(BALANCING_VEHICLE.derivative(*STILL))
    for plant in (with_passes(4), explicit("exponential"), explicit("implicit")):
        misses = [np.abs((np.array(plant.advance(*STILL, h)) - STILL[1]) / h - rates).max() for h in (1e-6, 1e-7)]
        assert misses[1] < 0.15 * misses[0] < 0.05 * np.abs(rates).max()
    assert with_passes(6).advance(*STILL, 1e-3) == BALANCING_VEHICLE.advance(*STILL, 1e-3)
    assert with_passes(2).advance(*STILL, 1e-3) != BALANCING_VEHICLE.advance(*STILL, 1e-3)


@pytest.mark.slow
def test_the_page_says_what_was_found():
    names = [*SCHEMES, *(f"own step, {k} passes" for k in PASSES_TRIED if k != 6)]
    found = StudyFindings(
        slip=[(1.6, 1.08, 1.5)],
        errors={name: {**dict.fromkeys(runs.STEPS, 0.02), 2e-3: np.inf} for name in names},
        times={f"{name}, {n}": Timing((3e-7, 3e-7)) for name in names for n in (f"{LANES} lanes", "one lane")},
        courses={(s, e): runs.Course(1.5, not e, 1.4, 0.2, 200.0) for s in SCALES for e in (False, True)},
        bumps=dict.fromkeys(HALVINGS, (1500, 12.0, 0.06, -0.0006)),
    )
    text = page(found, {"python": "3"})
    assert "| 1.6 | 1.080 | 1.5 |" in text
    assert "0.1498 at 0.601 s" in text
    assert "leaves its line by 0.19 m at 3 s" in " ".join(text.split())
    assert "| both, 0.05 | true | falls at 1.50 s | 0.20 | 200 |" in text
    assert "| rk4 | - | 2.0e-02 | 2.0e-02 | 2.0e-02 | 300 | 300 |" in text
    assert "16 lanes make the own step 1 times as fast" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 200
