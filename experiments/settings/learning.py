"""From a configuration to the teacher and the fuzzy network, and whether they suit the plant."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING

import plants
from configs.parts import built
from experiments.runtime.errors import UserError
from flcs.inference.output_sets import OutputSets
from flcs.inference.rule_base import OWN_INPUTS
from flcs.learning.config import USUAL_INPUTS, NetworkConfig
from flcs.learning.imitation import NO_TORCH
from flcs.learning.terms import bounds_of
from plants.core.names import did_you_mean
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.step_encoding import StepGrid
from sscq.teaching.teacher import Teacher

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from configs.schema import DesignConfig
    from plants import Plant
    from sscq.situations.situation import Situation

_ROUNDING, _SAME = 1e-9, 1e-6
_WINDOWS = 40  # of a taught situation, where the teacher's window is not given
_AHEAD = 4  # windows


def teacher_of(config: DesignConfig, taught: Sequence[Situation]) -> Teacher:
    """The search that makes the teaching signal."""
    given = config.teacher
    window, horizon = _windows(config, taught)
    search = GeneticAlgorithm(
        population=given.population, generations=config.budget.teacher_generations, stall_generations=None
    )
    return built(Teacher, given, window=window, horizon=horizon, search=search, gain_step=tuple(given.gain_step or ()))


def _windows(config: DesignConfig, taught: Sequence[Situation]) -> tuple[float, float]:
    """The teacher's window and horizon [s]: whole steps, and a window that fits into every taught situation."""
    given, step = config.teacher, config.integration_step
    shortest = min(taught, key=lambda situation: situation.t_end)
    window = given.window
    if window is None:
        window = max(1, round(shortest.t_end / _WINDOWS / step)) * step
        if given.horizon is not None:
            window = min(window, max(1, int(0.5 * given.horizon / step + _ROUNDING)) * step)
    elif not _is_whole(window, step):  # a sweeper's
        window = max(1, int(window / step)) * step
    if window > shortest.t_end * (1.0 + _ROUNDING) and shortest.t_end >= step:  # else told elsewhere, as what it is
        raise UserError(
            f"teacher.window = {window:g} s is longer than the taught situation {shortest.name!r} "
            f"({shortest.t_end:g} s); give a shorter one, or leave it out"
        )
    if given.horizon is None:
        return window, _AHEAD * window
    horizon = given.horizon if _is_whole(given.horizon, step) else math.ceil(given.horizon / step) * step
    return window, horizon


def _is_whole(time: float, step: float) -> bool:
    """Whether a time is whole steps but for rounding: it stands as it is then."""
    return abs(round(time / step) * step - time) <= _SAME * time


def network_of(config: DesignConfig, plant: Plant) -> NetworkConfig:
    """The fuzzy network, with output sets where its form of inference has them, mirrored where that suits the plant."""
    net = config.network
    sets = built(OutputSets, net) if net.form == "mamdani" else None
    mirrored = net.mirrored
    if mirrored is None:  # of other measurements nobody knows that they change sign with the state
        known = net.inputs is None or set(net.inputs) <= set(OWN_INPUTS)
        mirrored = known and not net.centres and is_odd(config, plant)
    inputs = USUAL_INPUTS if net.inputs is None else net.inputs
    return built(NetworkConfig, net, output=sets, mirrored=mirrored, inputs=inputs)


def check_steps(teacher: Teacher, low: np.ndarray, high: np.ndarray, names: tuple[str, ...]) -> None:
    """Raise where gains cannot move in the steps asked for."""
    if not teacher.gain_step:
        return
    try:
        StepGrid(tuple(low), tuple(high), teacher.gain_step, teacher.most_steps, names)
    except ValueError as error:
        raise UserError(f"teacher.gain_step, teacher.most_steps: {error}") from None


def check_learning(config: DesignConfig, plant: Plant) -> None:
    """Raise where the teaching signal could not give what the settings ask for."""
    _check_inputs(config, plant)
    _check_mirror(config, plant)
    _check_renewal(config)
    if config.network.rounds and find_spec("torch") is None:
        raise UserError(NO_TORCH)


def _check_inputs(config: DesignConfig, plant: Plant) -> None:
    known = (*OWN_INPUTS, *(quantity.name for quantity in plant.measurements))
    unknown = [name for name in config.network.inputs or () if name not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise UserError(
            f"network.inputs: {unknown[0]!r} is none of {', '.join(OWN_INPUTS)}, and plant {plant.name!r} measures "
            f"{', '.join(known[len(OWN_INPUTS) :])}{near}"
        )
    for name, centres in config.network.centres.items():
        low, high = bounds_of(plant, name)
        if not low <= centres[0] <= centres[-1] <= high:
            raise UserError(f"network.centres: plant {plant.name!r} has {name} in [{low:g}, {high:g}], got {centres}")


def _check_mirror(config: DesignConfig, plant: Plant) -> None:
    if config.network.mirrored and not is_odd(config, plant):
        raise UserError(
            f"network.mirrored: plant {plant.name!r} with its limits is not odd, f(-x, -u) = -f(x, u), so what is "
            "right on one side says nothing of the other; leave it out"
        )


def is_odd(config: DesignConfig, plant: Plant) -> bool:
    """Whether the plant with the limits that its command has here is its own mirror image."""
    limits = config.controller.limits
    return (limits is None or limits[0] == -limits[1]) and plants.is_odd(plant)


def _check_renewal(config: DesignConfig) -> None:
    drawn = [
        f"{name}: numpy_white" for name, one in config.situations.taught.items() if one.excitation.kind == "numpy_white"
    ]
    if config.search.renew_every is not None and drawn:
        raise UserError(
            f"search.renew_every cannot draw the excitation of situation {drawn[0]} anew, it is one recorded series; "
            "use kind: white, or leave renew_every out"
        )
