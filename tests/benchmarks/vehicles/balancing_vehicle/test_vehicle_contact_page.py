"""The page on the vehicle's contact: what its rows and sentences are computed from."""

import numpy as np

from benchmarks.vehicles.balancing_vehicle.contact import ContactCourse, ContactFindings, landing, page
from experiments.runtime.timing import Timing
from plants.balancing_vehicle.motion import END, MEAN
from plants.core.kernel.kernel import LANES


def course(given):
    """A gap that opens and shuts, and energy that rises by 3 mJ, or by `given` with heights half a step back."""
    time = np.arange(301) * 1e-3
    gap = np.where(abs(time - 0.2) < 0.05, 0.02, 0.0)
    gap[255] = -2e-5
    load = np.where(gap[1:] > 0.0, 0.0, 100.0)
    load[248] = 50.0  # the step that ends at 2 cm, still pushed
    energy = 30.0 + 3e-3 * (time > 0.25)
    return ContactCourse(time, gap, energy, 30.0 + given * (time > 0.25), load)


def test_rows_and_sentences_are_what_was_found():
    one = course(1.5e-3)
    assert one.open == 0.02
    assert one.deepest == 2e-5
    times = {(law, n): Timing((3e-7 * k, 3e-7 * k)) for k, law in ((1, MEAN), (2, END)) for n in (LANES, 1)}
    found = ContactFindings({(MEAN, 1e-3): course(4e-3), (END, 1e-3): one}, times)
    text = " ".join(page(found, {"load at start": 1.0}).split())
    assert "| mean of the gap | 1 | 20 | 0.02 | 3 | 4 | 30.003 |" in text
    assert "| gap at the step's end | 1 | 20 | 0.02 | 3 | 1.5 | 30.003 |" in text
    assert "gives 11.7 mJ there by the formula above and 1.5 mJ in this run, of 30.0 J" in text
    assert "600 ns by the gap at the end (2.00 times in turns)" in text
    assert "half a step back" in landing(found)
