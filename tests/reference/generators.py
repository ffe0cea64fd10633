"""The random generators that the self-test is tested with: every kind of `plants.excitation`."""

from __future__ import annotations

from plants.excitation import (
    ExponentialFilter,
    GammaFilter,
    GaussianFilter,
    NonlinearFilter,
    PeakFilter,
    RayleighFilter,
    Road,
    TabulatedFilter,
    UniformFilter,
    UniformPeakFilter,
    WhiteNoise,
)

TABLE = TabulatedFilter((-1.0, 0.0, 1.0, 3.0), (0.2, 1.0, 0.3, 0.5), 1.0)
GENERATORS = {  # part, step [s], streams a seed
    "white": (WhiteNoise(0.5, hold=0.1), 0.05, 64),
    "white uniform": (WhiteNoise(0.5, hold=0.1, density="uniform"), 0.05, 64),
    "gaussian": (GaussianFilter(2.0, 1.0), 0.25, 64),
    "exponential": (ExponentialFilter(2.0, 1.0), 0.25, 64),
    "gamma": (GammaFilter(2.0, 1.0), 0.25, 64),
    "peak": (PeakFilter(2.0, 1.0, 0.1), 0.125, 64),
    "uniform peak": (UniformPeakFilter(2.0, 1.0, 0.1), 0.0625, 64),
    "road": (Road("C", 20.0), 0.05, 64),
    "uniform": (UniformFilter(1.5, 1.0), 0.25, 32),
    "rayleigh": (RayleighFilter(1.5, 1.0), 0.25, 32),
    "tabulated": (TABLE, 0.25, 32),
    "nonlinear": (NonlinearFilter(), 0.01, 16),
}
