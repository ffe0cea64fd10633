"""Neutralisation of acid by a base in a stirred tank: pH control.

`chemistry` has the titration curve and the free energy of dissolved carbonate, `tank` the balances and the plant.
"""

from plants.neutralisation.tank import PH_NEUTRALISATION

__all__ = ["PH_NEUTRALISATION"]
