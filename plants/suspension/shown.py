"""What a car's engineer looks at over time and over frequency."""

from __future__ import annotations

from plants.core.shown import Shown
from plants.ride.weightings import WK

_SPAN, _TOP = 2.0, 30.0  # s, Hz: above, neither body nor wheels move

SHOWN = (
    Shown("heave_acceleration", _SPAN, _TOP, WK.response, "Wk"),
    Shown("tyre_load_i", _SPAN, _TOP),
    Shown("c_i", _SPAN),
)
"""Body acceleration (felt: weighted by Wk of ISO 2631-1), load of the front left tyre, setting of its damper."""
