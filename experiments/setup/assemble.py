"""From a configuration to the objects of a design: plant, situations, laws, fitness, searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plants
from controllers import gain_names
from experiments import situations
from experiments.errors import UserError
from experiments.setup.law import box_of, law_of, own_gains_of
from experiments.setup.learning import check_learning, check_steps, network_of, teacher_of
from experiments.setup.objects import Setup
from experiments.setup.searching import fitness_of, limits_of, methods_of
from experiments.setup.trade_off import front_of

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from plants import Plant


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
    plant = plants.get(config.plant)
    if not plant.channels:
        raise UserError(
            f"plant {plant.name!r} declares no control channel (channels=(plants.Channel(output=...),)), so there is "
            "nothing to design; it can only be simulated"
        )
    return plant
