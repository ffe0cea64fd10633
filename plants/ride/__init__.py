"""Ride comfort: frequency weightings of ISO 2631-1 and the measures made with them.

`weightings` has the standard's filters, continuous and sampled; `comfort` the measures that a plant declares.
"""

from plants.ride.comfort import vibration_dose, vibration_total, weighted_rms
from plants.ride.weightings import WD, WE, WEIGHTINGS, WK, Weighting

__all__ = ["WD", "WE", "WEIGHTINGS", "WK", "Weighting", "vibration_dose", "vibration_total", "weighted_rms"]
