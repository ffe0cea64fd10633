"""Machines of one random program, and inputs that hold every kind of number."""

import math
import random

import numpy as np

from flcs.export.machine import Machine, MachinePart, MachineSignal
from plants.core.tracing.trace import trace
from tests.reference import random_programs

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 0.5, 2.0, 3.0)


def machine_of(program, name="random_program"):
    """A machine whose one part is a program."""
    outputs = tuple(f"o{k}" for k in range(len(program.outputs)))
    memory = dict.fromkeys((*program.inputs, *outputs), 0.0)
    inputs, results = (tuple(MachineSignal(word) for word in words) for words in (program.inputs, outputs))
    return Machine(name, "a test", inputs, results, memory, (MachinePart("compute", program, outputs),), 1.0)


def random_machine(seed, without=()):
    """A machine of 40 random operations on four inputs."""
    return machine_of(random_programs.grow(random.Random(seed), 40, without=without))


def functions_machine(functions):
    """A machine of elementary functions: pairs of function and number of arguments, each on the first inputs."""
    names = random_programs.NAMES[:2]
    return machine_of(trace(lambda values: tuple(f(*values[:n]) for f, n in functions), names))


def points(width, count=60, seed=1, usual=3.0):
    """Rows of usual numbers with special ones among them."""
    rng = np.random.default_rng(seed)
    rows = usual * rng.normal(size=(count, width))
    return np.where(rng.uniform(size=rows.shape) < 0.3, rng.choice(np.array(SPECIAL), rows.shape), rows)
