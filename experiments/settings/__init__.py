"""From a configuration to the objects that all stages of a design work with.

Plant, situations and their signals, laws, fitness, searches, teacher and network; what does not fit together is
reported before anything runs.
"""

from experiments.settings.assemble import Setup, setup
from experiments.settings.integration_step import settle_step
from experiments.settings.searching import FrontPlan
from experiments.settings.start import begun

__all__ = ["FrontPlan", "Setup", "begun", "settle_step", "setup"]
