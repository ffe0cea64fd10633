"""From a configuration to the objects that all stages of a design work with."""

from experiments.setup.assemble import setup
from experiments.setup.objects import FrontPlan, Setup

__all__ = ["FrontPlan", "Setup", "setup"]
