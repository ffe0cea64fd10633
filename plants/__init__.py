"""Plants: what they are, how they are compiled and simulated."""

from plants import (
    balancing_vehicle,
    ball_and_beam,
    cart_pole,
    dead_time,
    dimensionless_reactor,
    duffing,
    levitation,
    measures,
    motors,
    oscillators,
    pendulum,
    planar_quadrotor,
    process,
    quarter_car,
    reactors,
    ride,
    suspension,
    tanks,
    thermal,
    unicycle,
)
from plants.core.check import CheckReport, check
from plants.core.close import close
from plants.core.elementary import cos, sin
from plants.core.installed import load_installed
from plants.core.linearise import LinearModel, linearise
from plants.core.loop_account import AlgebraicLoopError, LoopGainWarning
from plants.core.loop_gain import SpuriousDamping, loop_gain, spurious_damping
from plants.core.loop_report import LoopReport
from plants.core.measures import Measure
from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import get, names, register
from plants.core.rival import Rival, with_rival
from plants.core.scene import Body, Scene, View
from plants.core.scene_points import SceneError
from plants.core.shown import Shown
from plants.core.simulate import simulate
from plants.core.symmetry import is_odd
from plants.core.trajectory import DivergedError, Trajectory
from plants.core.user_file import PlantFileError, load_plant_file, slow_plants
from plants.mechanics import Mechanism

__all__ = [
    "AlgebraicLoopError", "Body", "Channel", "CheckReport", "DivergedError", "LinearModel", "LoopGainWarning",
    "LoopReport", "Measure", "Mechanism", "OperatingPoint", "Plant", "PlantFileError", "Quantity", "Rival", "Scene",
    "SceneError", "Shown", "SpuriousDamping", "Trajectory", "View", "balancing_vehicle", "ball_and_beam", "cart_pole",
    "check", "close", "cos", "dead_time", "dimensionless_reactor", "duffing", "get", "is_odd", "levitation",
    "linearise", "load_installed", "load_plant_file", "loop_gain", "measures", "motors", "names", "oscillators",
    "pendulum", "planar_quadrotor", "process", "quarter_car", "reactors", "register", "ride", "simulate", "sin",
    "slow_plants", "spurious_damping", "suspension", "tanks", "thermal", "unicycle", "with_rival",
]  # fmt: skip
