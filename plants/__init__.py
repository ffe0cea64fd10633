"""Plants: what they are, how they are compiled and simulated."""

from plants import oscillators, process
from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import get, names, register
from plants.core.simulate import DivergedError, Trajectory, simulate

__all__ = [
    "Channel", "DivergedError", "OperatingPoint", "Plant", "Quantity", "Trajectory", "get", "names", "oscillators",
    "process", "register", "simulate",
]  # fmt: skip
