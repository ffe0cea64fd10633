"""Plants: what they are, how they are compiled and simulated."""

from plants import (
    dead_time,
    dimensionless_reactor,
    levitation,
    motors,
    oscillators,
    process,
    reactors,
    tanks,
    thermal,
)
from plants.core.check import CheckReport, check
from plants.core.close import close
from plants.core.linearise import LinearModel, linearise
from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import get, names, register
from plants.core.simulate import DivergedError, Trajectory, simulate
from plants.core.user_file import PlantFileError, load_plant_file

__all__ = [
    "Channel", "CheckReport", "DivergedError", "LinearModel", "OperatingPoint", "Plant", "PlantFileError", "Quantity",
    "Trajectory", "check", "close", "dead_time", "dimensionless_reactor", "get", "levitation", "linearise",
    "load_plant_file", "motors", "names", "oscillators", "process", "reactors", "register", "simulate", "tanks",
    "thermal",
]  # fmt: skip
