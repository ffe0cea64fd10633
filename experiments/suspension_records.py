"""Controllers of the car's comparison, to be driven again: :mod:`experiments.comparison.records` at the car's step."""

from experiments.comparison.records import Driver, drivers

__all__ = ["STEP", "Driver", "drivers"]

STEP = 0.001  # s
