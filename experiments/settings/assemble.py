"""From a configuration to the objects of a design: plant, situations, laws, fitness, searches.

First what concerns the PID: its laws, the box of its gains, the user's own gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import plants
from configs.parts import built
from controllers import PID, gain_names
from experiments.runtime.errors import UserError
from experiments.settings import situations
from experiments.settings.learning import check_learning, check_steps, network_of, teacher_of
from experiments.settings.objects import Setup
from experiments.settings.searching import fitness_of, front_of, limits_of, methods_of

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from plants import Plant


def law_of(config: DesignConfig) -> PID:
    """The law of every channel."""
    # A knowledge base carries the sample time to where the step is another.
    return built(PID, config.controller, sample_time=config.controller.sample_time or config.integration_step)


def box_of(config: DesignConfig, plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    """The box [low, high] in which gains are searched, each [n_gains]."""
    low = config.controller.low
    high = config.controller.high
    lows = [g for c in plant.channels for g in c.gains_low] if low is None else _gains("low", low, plant)
    highs = [g for c in plant.channels for g in c.gains_high] if high is None else _gains("high", high, plant)
    lows, highs = np.array(lows, float), np.array(highs, float)
    if not (lows <= highs).all() or not (lows < highs).any():
        given = f"low = {lows.tolist()}, high = {highs.tolist()}"
        raise UserError(
            f"gain bounds must satisfy low <= high, and low < high for one gain at least, got {given}; mend "
            "controller.low or controller.high (what is not given is the plant's)"
        )
    return lows, highs


def own_gains_of(config: DesignConfig, plant: Plant) -> np.ndarray | None:
    """The user's present gains [n_gains], where they are given."""
    given = config.controller.own_gains
    return None if given is None else _gains("own_gains", given, plant)


def _gains(name: str, values: list[float], plant: Plant) -> np.ndarray:
    n = 3 * len(plant.channels)
    array = np.array(values if len(values) == n else list(values) * len(plant.channels), float)
    if len(values) not in {3, n} or not np.isfinite(array).all():
        raise UserError(
            f"controller.{name} must be kp, ki, kd for each of the {len(plant.channels)} channels of {plant.name!r} "
            f"({n} finite numbers, or 3 for all), got {values}"
        )
    return array


def setup(config: DesignConfig) -> Setup:
    """Return the objects of a design; user errors are told in the user's words."""
    plant = _plant_of(config)
    config.step = config.step or plant.step
    step, law = config.integration_step, law_of(config)
    laws = (law,) * len(plant.channels)
    low, high = box_of(config, plant)
    sets, warnings = situations.declared_sets(config, plant)
    limits = limits_of(config)
    if limits is not None and not plant.operating_points:
        warnings.append(f"plant {plant.name!r} declares no operating points: no margins are computed or kept")
    teacher = teacher_of(config, sets["taught"])
    check_steps(teacher, low, high, gain_names(laws))
    check_learning(config, plant)
    return Setup(
        plant=plant,
        sets=sets,
        seeds=config.budget.verdict_seeds,
        spread=config.situations.unforeseen_spread,
        laws=laws,
        low=low,
        high=high,
        own=own_gains_of(config, plant),
        tick=config.controller.schedule_time or 4.0 * (law.sample_time or step),
        step=step,
        options={"integrator": config.integrator, "algebraic_loop": config.algebraic_loop},
        threads=config.threads,
        fitness=fitness_of(config, plant),
        relative=config.fitness.relative,
        limits=limits,
        evaluations=config.budget.evaluations,
        method=methods_of(config),
        redraw=situations.redrawing(config, plant, sets),
        teacher=teacher,
        network=network_of(config),
        seed=config.seed,
        rounds=config.teacher.rounds,
        pooling=config.teacher.pooling,
        renew_every=config.search.renew_every,
        tries=config.search.tries,
        anchor_share=config.search.anchor_share,
        coarse_share=config.search.coarse_share,
        scatter_share=config.search.scatter_share,
        region_share=config.search.region_share,
        travel_share=config.fitness.travel_share,
        margins_of=config.fitness.margins_of,
        warnings=tuple(warnings),
        front=front_of(config, plant),
        further=tuple(config.ladder.further),
        repeat_taught=config.budget.repeat_taught,
    )


def _plant_of(config: DesignConfig) -> Plant:
    plant = plants.find(config.plant)
    if not plant.channels:
        raise UserError(
            f"plant {plant.name!r} declares no control channel (channels=(plants.Channel(output=...),)), so there is "
            "nothing to design; it can only be simulated"
        )
    return plant
