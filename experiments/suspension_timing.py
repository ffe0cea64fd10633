"""What one search of the car's gains takes: population 64, 40 generations, 8 situations of 10 s at 1 ms."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

import plants
import sscq
from controllers import PID
from experiments.comparison.kept import kept
from experiments.suspension_tables import group_of
from sscq.fitness import Fitness

if TYPE_CHECKING:
    from pathlib import Path

POPULATION, GENERATIONS = 64, 40
_LIMIT = 300.0  # s: the aim, on two cores


def measured(population: int = POPULATION, generations: int = GENERATIONS) -> dict[str, float]:
    """Search the gains once and return what it took; kernels are compiled within the time."""
    plant = plants.get("suspension_unilateral_together")
    listed = [one for one in plant.situations["unforeseen"] if group_of("unforeseen", one["name"]) == "listed"]
    situations = tuple(sscq.Situation(**one) for one in listed)  # eight, of all kinds
    fitness = Fitness(error_weight=0.0, entropy_weight=0.0, own_measures={"ride_comfort": 1.0})
    genetic = sscq.GeneticAlgorithm(population=population, generations=generations, stall_generations=None)
    wall, cpu = time.perf_counter(), time.process_time()
    found = sscq.optimize(
        plant, PID(), situations, genetic, fitness=fitness, margins=False, teacher=False, step=0.001
    )  # fmt: skip
    return {
        "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "load": os.getloadavg()[0],
        "cores": os.cpu_count() or 1,
        "situations": len(situations), "population": population, "generations": generations,
        "heave_kd": float(np.asarray(found.gains)[2]),
    }  # fmt: skip


def timing(folder: Path) -> list[str]:
    """Return the sentence on the time as Markdown lines; measured once, then kept in the folder."""
    one = kept(folder / "timing.json", {"population": POPULATION, "generations": GENERATIONS}, measured)
    told = "within" if one["wall"] < _LIMIT else "not within"
    return [
        f"One search of the fifteen gains, population {one['population']:.0f}, {one['generations']:.0f} generations,",
        f"in {one['situations']:.0f} situations of 10 s at 1 ms took {one['wall']:.0f} s ({one['cpu']:.0f} s of",
        f"processor time) on a machine of {one['cores']:.0f} cores with a load of {one['load']:.1f} from other work:",
        f"{told} the five minutes asked for.",
    ]
