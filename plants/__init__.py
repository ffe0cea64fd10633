"""Plants: what they are, how they are compiled and simulated."""

from plants import (
    ball_and_beam,
    cart_pole,
    duffing,
    oscillators,
    pendulum,
    planar_quadrotor,
    process,
    quarter_car,
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
    "Trajectory", "ball_and_beam", "cart_pole", "check", "close", "duffing", "get", "linearise", "load_plant_file",
    "names", "oscillators", "pendulum", "planar_quadrotor", "process", "quarter_car", "register", "simulate",
]  # fmt: skip
