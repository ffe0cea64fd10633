"""The random generators that the self-test is tested with: every kind of `plants.excitation`."""

from plants import excitation

TABLE = excitation.TabulatedFilter((-1.0, 0.0, 1.0, 3.0), (0.2, 1.0, 0.3, 0.5), 1.0)
GENERATORS = {  # part, step [s], streams a seed
    "white": (excitation.WhiteNoise(0.5, hold=0.1), 0.05, 64),
    "white uniform": (excitation.WhiteNoise(0.5, hold=0.1, density="uniform"), 0.05, 64),
    "gaussian": (excitation.GaussianFilter(2.0, 1.0), 0.25, 64),
    "exponential": (excitation.ExponentialFilter(2.0, 1.0), 0.25, 64),
    "gamma": (excitation.GammaFilter(2.0, 1.0), 0.25, 64),
    "peak": (excitation.PeakFilter(2.0, 1.0, 0.1), 0.125, 64),
    "uniform peak": (excitation.UniformPeakFilter(2.0, 1.0, 0.1), 0.0625, 64),
    "road": (excitation.Road("C", 20.0), 0.05, 64),
    "uniform": (excitation.UniformFilter(1.5, 1.0), 0.25, 32),
    "rayleigh": (excitation.RayleighFilter(1.5, 1.0), 0.25, 32),
    "tabulated": (TABLE, 0.25, 32),
    "nonlinear": (excitation.NonlinearFilter(), 0.01, 16),
}
