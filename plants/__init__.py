"""Plants: what they are, how they are compiled and simulated.

One plant, or one family of plants, a file or a folder; each registers itself under its name. `core` is what all of
them stand on: declaration, tape, kernels, simulation. `mechanics` derives plants from energies and constraints.
A plant is built when it is first asked for, so that ``import plants`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plants.core.registry import find, get, load_installed, names, provide, register, tasks

if TYPE_CHECKING:
    from plants import (
        balancing_vehicle,
        ball_and_beam,
        cart_pole,
        levitation,
        measures,
        motors,
        neutralisation,
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
    from plants.core.analysis.about_values import with_parameters
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
    from plants.core.plant import Plant, StartWarning, with_rival
    from plants.core.presentation import Body, PlottedSignal, Presentation, Scene, View
    from plants.core.presentation import PlottedSignal as Shown
    from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity, Rival
    from plants.core.scene_points import SceneError
    from plants.core.user_file import PlantFileError, load_plant_file, slow_plants
    from plants.core.user_functions.block import UntracedWarning
    from plants.mechanics import DeclarationError, Mechanism

REGISTERED = {
    "plants.balancing_vehicle": ("balancing_vehicle", "balancing_vehicle_no_slip", "balancing_vehicle_rigid"),
    "plants.ball_and_beam": ("ball_and_beam",),
    "plants.cart_pole": ("cart_pole",),
    "plants.levitation": ("magnetic_levitation",),
    "plants.motors": ("dc_motor",),
    "plants.neutralisation": ("ph_neutralisation",),
    "plants.oscillators": ("van_der_pol", "nonlinear_inertia", "duffing"),
    "plants.pendulum": ("pendulum",),
    "plants.planar_quadrotor": ("planar_quadrotor",),
    "plants.process": ("fopdt", "second_order_dead_time", "integrating_dead_time", "two_lags"),
    "plants.quarter_car": ("quarter_car",),
    "plants.reactors": ("cstr", "cstr_bequette", "cstr_dimensionless"),
    "plants.suspension": ("suspension", "suspension_unilateral"),
    "plants.tanks": ("two_tanks",),
    "plants.thermal": ("heater", "equal_percentage_valve"),
    "plants.unicycle": ("unicycle",),
}
"""Names of the plants that each module registers when it is imported."""

_FROM = {
    "plants.core.algebraic_loop.gain": ("SpuriousDamping", "loop_gain", "spurious_damping"),
    "plants.core.algebraic_loop.report": ("LoopReport",),
    "plants.core.analysis.about_values": ("with_parameters",),
    "plants.core.analysis.close": ("close",),
    "plants.core.analysis.linearise": ("LinearModel", "linearise"),
    "plants.core.analysis.symmetry": ("is_odd",),
    "plants.core.checks.check": ("check",),
    "plants.core.checks.report": ("CheckReport",),
    "plants.core.elementary": ("cos", "sin"),
    "plants.core.measures": ("Measure",),
    "plants.core.motion.loop_account": ("AlgebraicLoopError", "LoopGainWarning"),
    "plants.core.motion.simulate": ("simulate",),
    "plants.core.motion.trajectory": ("DivergedError", "Trajectory"),
    "plants.core.plant": ("Plant", "StartWarning", "with_rival"),
    "plants.core.presentation": ("Body", "PlottedSignal", "Presentation", "Scene", "View"),
    "plants.core.quantities": ("Channel", "ControlTask", "OperatingPoint", "OperatingRanges", "Quantity", "Rival"),
    "plants.core.scene_points": ("SceneError",),
    "plants.core.user_file": ("PlantFileError", "load_plant_file", "slow_plants"),
    "plants.core.user_functions.block": ("UntracedWarning",),
    "plants.mechanics": ("DeclarationError", "Mechanism"),
}
_MODULE_OF = {name: module for module, names_there in _FROM.items() for name in names_there}

provide(REGISTERED)

__all__ = [
    "AlgebraicLoopError", "Body", "Channel", "CheckReport", "ControlTask", "DeclarationError", "DivergedError",
    "LinearModel", "LoopGainWarning", "LoopReport", "Measure", "Mechanism", "OperatingPoint", "OperatingRanges",
    "Plant", "PlantFileError", "PlottedSignal", "Presentation", "Quantity", "Rival", "Scene", "SceneError", "Shown",
    "SpuriousDamping", "StartWarning", "Trajectory", "UntracedWarning", "View", "balancing_vehicle", "ball_and_beam",
    "cart_pole", "check", "close", "cos", "find", "get", "is_odd", "levitation", "linearise", "load_installed",
    "load_plant_file", "loop_gain", "measures", "motors", "names", "neutralisation", "oscillators", "pendulum",
    "planar_quadrotor", "process", "quarter_car", "reactors", "register", "ride", "simulate", "sin", "slow_plants",
    "spurious_damping", "suspension", "tanks", "tasks", "thermal", "unicycle", "with_parameters",
    "with_rival",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Shown":  # earlier name of PlottedSignal
        name = "PlottedSignal"
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    if name in __all__ and name not in globals():
        return import_module(f"plants.{name}")
    raise AttributeError(f"module 'plants' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
