"""Signals for references, disturbances and inputs: steps, sines, random excitation, recorded series.

A signal is a sum of parts: ``Step(1.5) + Sine(0.1, 2.0) + WhiteNoise(0.3, hold=0.1)``; a bare number is a constant.
Smooth parts are evaluated at the integrator's stage times, parts with jumps and random parts are held from the start
of a step. Random parts draw counter-based unit noise (:mod:`plants.core.noise`).

How to write a kind of part is said in :mod:`plants.excitation.signals`. Where it goes:

- a formula of time beside :mod:`plants.excitation.elementary_forms`; signals for identification (chirp, PRBS,
  multisine) in :mod:`plants.excitation.identification`;
- samples without memory, of any density, in :mod:`plants.excitation.white_noise`;
- coloured noise of first order beside :mod:`plants.excitation.forming_filters` (Gaussian, uniform),
  :mod:`plants.excitation.squared_filters` (exponential, gamma), :mod:`plants.excitation.density_filters` (Rayleigh) and
  :mod:`plants.excitation.tabulated_filter` (any other); filters of higher order in a file each;
- a profile over the way driven in :mod:`plants.excitation.road`, for four wheels in
  :mod:`plants.excitation.wheel_road`, single bumps in :mod:`plants.excitation.bump`;
- a user's data in :mod:`plants.excitation.recorded`, its formats beside :mod:`plants.excitation.series_file`.

Random kinds say what law they have (:mod:`plants.excitation.claims`); :mod:`plants.excitation.selftest` holds any
generator, a user's own as well, against such a claim.

Every kind is exported here and takes its place in ``SIGNALS`` or ``MORE`` of ``tests/plants/test_excitation.py``,
which runs each.
"""

from plants.excitation.bump import Bump, BumpRate
from plants.excitation.claims import Bias, Claim
from plants.excitation.density_filters import RayleighFilter
from plants.excitation.elementary_forms import Ramp, Sine, Step
from plants.excitation.forming_filters import GaussianFilter, UniformFilter
from plants.excitation.identification import PRBS, Chirp, multisine
from plants.excitation.nonlinear_filter import NonlinearFilter
from plants.excitation.peak_filters import PeakFilter, UniformPeakFilter
from plants.excitation.recorded import Recorded
from plants.excitation.road import Road, road_tracks
from plants.excitation.selftest import check_generator, check_seeds
from plants.excitation.series_file import read_series
from plants.excitation.signals import TIME_TOLERANCE, Constant, Feed, Part, Signal, as_signal
from plants.excitation.squared_filters import ExponentialFilter, GammaFilter
from plants.excitation.tabulated_filter import TabulatedFilter
from plants.excitation.wheel_road import WheelRoad, WheelRoadRate
from plants.excitation.white_noise import WhiteNoise

__all__ = [
    "PRBS", "TIME_TOLERANCE", "Bias", "Bump", "BumpRate", "Chirp", "Claim", "Constant", "ExponentialFilter", "Feed",
    "GammaFilter", "GaussianFilter", "NonlinearFilter", "Part", "PeakFilter", "Ramp", "RayleighFilter", "Recorded",
    "Road", "Signal", "Sine", "Step", "TabulatedFilter", "UniformFilter", "UniformPeakFilter", "WheelRoad",
    "WheelRoadRate", "WhiteNoise",
    "as_signal", "check_generator", "check_seeds", "multisine", "read_series", "road_tracks",
]  # fmt: skip
