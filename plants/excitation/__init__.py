"""Signals for references, disturbances and inputs: steps, sines, random excitation, recorded series.

A signal is a sum of parts: ``Step(1.5) + Sine(0.1, 2.0) + WhiteNoise(0.3, hold=0.1)``; a bare number is a constant.
Smooth parts are evaluated at the integrator's stage times, parts with jumps and random parts are held from the start
of a step. Random parts draw counter-based unit noise (:mod:`plants.core.signals.noise`).

How to write a kind of part is said in :mod:`plants.core.signals.signal`. Where it goes:

- a formula of time beside :mod:`plants.core.signals.elementary_forms`; signals for identification (chirp, PRBS,
  multisine) in :mod:`plants.excitation.identification`;
- samples without memory, of any density, in :mod:`plants.excitation.first_order_filters`;
- coloured noise of first order in :mod:`plants.excitation.first_order_filters` (Gaussian, exponential, gamma) and
  :mod:`plants.excitation.density_filters` (uniform, Rayleigh, any other); of higher order in
  :mod:`plants.excitation.second_order_filters`;
- a profile over the way driven in :mod:`plants.excitation.roads`: one wheel, four wheels, single bumps;
- a user's data, and the formats that can be read, in :mod:`plants.core.signals.recorded`.

Random kinds say what law they have (:mod:`plants.core.signals.stationary_law`); tests hold their samples against it.

Every kind is exported here and takes its place in ``SIGNALS`` or ``MORE`` of
``tests/plants/core/signals/test_excitation.py``, which runs each.
"""

from plants.core.signals.elementary_forms import Ramp, Sine, Step
from plants.core.signals.recorded import Recorded, read_series
from plants.core.signals.signal import TIME_TOLERANCE, Constant, Feed, Part, Signal, as_signal
from plants.core.signals.stationary_law import Bias, StationaryLaw
from plants.excitation.density_filters import RayleighFilter, TabulatedFilter, UniformFilter
from plants.excitation.first_order_filters import ExponentialFilter, GammaFilter, GaussianFilter, WhiteNoise
from plants.excitation.identification import PRBS, Chirp, multisine
from plants.excitation.roads import Bump, BumpRate, Road, WheelRoad, WheelRoadRate
from plants.excitation.second_order_filters import NonlinearFilter, PeakFilter, UniformPeakFilter

Claim = StationaryLaw  # its earlier name

__all__ = [
    "PRBS", "TIME_TOLERANCE", "Bias", "Bump", "BumpRate", "Chirp", "Claim", "Constant", "ExponentialFilter", "Feed",
    "GammaFilter", "GaussianFilter", "NonlinearFilter", "Part", "PeakFilter", "Ramp", "RayleighFilter", "Recorded",
    "Road", "Signal", "Sine", "StationaryLaw", "Step", "TabulatedFilter", "UniformFilter", "UniformPeakFilter",
    "WheelRoad", "WheelRoadRate", "WhiteNoise",
    "as_signal", "multisine", "read_series",
]  # fmt: skip
