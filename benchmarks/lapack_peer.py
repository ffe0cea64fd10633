"""Routh's equations compiled by Numba with a dense solve by LAPACK, as a library user would: one lane."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.mechanism_forms import traced
from plants.core.printers.python import Printed
from plants.mechanics.deriving.parts import triangle

if TYPE_CHECKING:
    from plants.core.plant import Plant

_DRIVER = """
@njit(error_model="numpy")
def run(x, p, n_steps, h):
    for k in range(n_steps):
        t = k * h
        k1 = rates(t, x, p)
        k2 = rates(t + 0.5 * h, x + 0.5 * h * k1, p)
        k3 = rates(t + 0.5 * h, x + 0.5 * h * k2, p)
        k4 = rates(t + h, x + h * k3, p)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return x
"""


class Peer:
    """Free motion of a plant in Routh's form.

    Parameters
    ----------
    plant : Plant
        Built with form "routh".
    """

    def __init__(self, plant: Plant) -> None:
        from numba import njit

        self.parameters = np.array(plant.nominal())
        space: dict[str, Any] = {
            "np": np,
            "njit": njit,
            "fma": njit(lambda a, b, c: a * b + c),
            "k_quotient": njit(lambda a, b: a / b, error_model="numpy"),
            "k_sincos": njit(lambda a: (math.sin(a), math.cos(a))),
        }
        exec(text(plant) + _DRIVER, space)  # noqa: S102  (our own text)
        self._run = space["run"]

    def run(self, initial: np.ndarray, n_steps: int, step: float) -> np.ndarray:
        """Return the state at the end [n_x]."""
        return self._run(initial, self.parameters, n_steps, step)


def text(plant: Plant) -> str:
    """Return the function ``rates(t, x, p)`` that fills matrix and right side and lets LAPACK solve."""
    equations = plant.equations
    n, g = equations.declared.n, equations.declared.n_constraints

    def blocks(*block: Any) -> tuple[Any, ...]:
        lower, load, rows, target = equations.parts(("matrix", "load", "rows", "target"), *block)
        return (*(entry for row in triangle(lower, n) for entry in row), *rows, *load, *target)

    program = traced(plant, blocks)
    names = ["t", *(f"x[{k}]" for k in range(2 * n))]
    names += ["0.0"] * (len(program.inputs) - len(names) - len(plant.parameters))
    names += [f"p[{k}]" for k in range(len(plant.parameters))]
    given = {node: names[program.inputs.index(name)] for node, name in program.tape.input_names.items()}
    printed = Printed(program.tape, program.outputs, given)
    values = iter(printed.value(node) for node in program.outputs)
    lines = [*printed.lines, f"A = np.zeros(({n + g}, {n + g}))", f"b = np.empty({n + g})"]
    lines += [f"A[{i}, {j}] = {next(values)}" for i in range(n) for j in range(n)]
    for k in range(g):
        for i in range(n):
            lines += [f"A[{n + k}, {i}] = {next(values)}", f"A[{i}, {n + k}] = -A[{n + k}, {i}]"]
    lines += [f"b[{k}] = {next(values)}" for k in range(n + g)]
    lines += [f"out = np.empty({2 * n})", f"out[:{n}] = x[{n}:]", f"out[{n}:] = np.linalg.solve(A, b)[:{n}]"]
    lines.append("return out")
    return '@njit(error_model="numpy")\ndef rates(t, x, p):\n    ' + "\n    ".join(lines) + "\n"
