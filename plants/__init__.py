"""Plants: what they are, how they are compiled and simulated.

One plant, or one family of plants, a file or a folder; each registers itself under its name. `core` is what all of
them stand on: declaration, tape, kernels, simulation. `mechanics` derives plants from energies and constraints.
"""

from plants import (
    balancing_vehicle,
    ball_and_beam,
    cart_pole,
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
from plants.core.algebraic_loop.gain import SpuriousDamping, loop_gain, spurious_damping
from plants.core.algebraic_loop.report import LoopReport
from plants.core.analysis.close import close
from plants.core.analysis.linearise import LinearModel, linearise
from plants.core.analysis.symmetry import is_odd
from plants.core.checks.check import check
from plants.core.checks.report import CheckReport
from plants.core.elementary import cos, sin
from plants.core.measures import Measure
from plants.core.motion.loop_account import AlgebraicLoopError, LoopGainWarning
from plants.core.motion.simulate import simulate
from plants.core.motion.trajectory import DivergedError, Trajectory
from plants.core.plant import Plant, with_rival
from plants.core.presentation import Body, PlottedSignal, Presentation, Scene, View
from plants.core.quantities import Channel, ControlTask, OperatingPoint, Quantity, Rival
from plants.core.registry import find, get, load_installed, names, register, tasks
from plants.core.scene_points import SceneError
from plants.core.user_file import PlantFileError, load_plant_file, slow_plants
from plants.mechanics import Mechanism

Shown = PlottedSignal  # its earlier name

__all__ = [
    "AlgebraicLoopError", "Body", "Channel", "CheckReport", "ControlTask", "DivergedError", "LinearModel",
    "LoopGainWarning", "LoopReport", "Measure", "Mechanism", "OperatingPoint", "Plant", "PlantFileError",
    "PlottedSignal", "Presentation", "Quantity", "Rival", "Scene", "SceneError", "Shown", "SpuriousDamping",
    "Trajectory", "View", "balancing_vehicle", "ball_and_beam", "cart_pole", "check", "close", "cos", "find", "get",
    "is_odd", "levitation", "linearise", "load_installed", "load_plant_file", "loop_gain", "measures", "motors",
    "names", "oscillators", "pendulum", "planar_quadrotor", "process", "quarter_car", "reactors", "register", "ride",
    "simulate", "sin", "slow_plants", "spurious_damping", "suspension", "tanks", "tasks", "thermal", "unicycle",
    "with_rival",
]  # fmt: skip
