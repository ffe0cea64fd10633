"""Signals for references, disturbances and inputs: steps, sines, random excitation, recorded series.

A signal is a sum of parts: ``Step(1.5) + Sine(0.1, 2.0) + WhiteNoise(0.3, hold=0.1)``; a bare number is a constant.
Smooth parts are evaluated at the integrator's stage times, parts with jumps and random parts are held from the start
of a step. Random parts draw counter-based unit noise (:mod:`plants.core.noise`).

How to write a kind of part is said in :mod:`plants.excitation.signals`. Where it goes:

- a formula of time beside :mod:`plants.excitation.elementary_forms`; a family of formulas (signals for identification
  such as chirp, PRBS and multisine) in a file of its own;
- samples without memory, of any density, in :mod:`plants.excitation.white_noise`;
- coloured noise beside :mod:`plants.excitation.forming_filters`, which holds the first-order filters with Gaussian and
  uniform density: other densities, and filters of higher order, in a file each;
- a profile over the way driven (roads) in a file named by its subject;
- a user's data in :mod:`plants.excitation.recorded`, its formats beside :mod:`plants.excitation.series_file`.

Every kind is exported here and takes its place in ``SIGNALS`` of ``tests/plants/test_excitation.py``, which runs each.
"""

from plants.excitation.elementary_forms import Ramp, Sine, Step
from plants.excitation.forming_filters import GaussianFilter, UniformFilter
from plants.excitation.recorded import Recorded
from plants.excitation.series_file import read_series
from plants.excitation.signals import TIME_TOLERANCE, Constant, Feed, Part, Signal, as_signal
from plants.excitation.white_noise import WhiteNoise

__all__ = [
    "TIME_TOLERANCE", "Constant", "Feed", "GaussianFilter", "Part", "Ramp", "Recorded", "Signal", "Sine", "Step",
    "UniformFilter", "WhiteNoise", "as_signal", "read_series",
]  # fmt: skip
