"""Other libraries on the same mechanisms: derivations by SymPy, and Routh's equations with a dense solve by LAPACK.

SymPy derives the same blocks of the same declaration, and the rolling disk by its own mechanics package. The dense
solve is compiled by Numba, as a library user would: one lane.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.mechanics.mechanism_forms import traced
from plants.core.printers.python import Printed
from plants.mechanics.algebra.calculus import triangle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.plant import Plant
    from plants.mechanics.declaration.declaration import MechanismDeclaration


_INFIX: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "quotient": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
}
_PROPER = 2**20  # constants of so many parts are kept as fractions


class Sympy:
    """A calculus for :mod:`plants.mechanics.algebra.blocks` by SymPy's expressions; its cache is emptied."""

    def __init__(self, declared: MechanismDeclaration) -> None:
        from sympy.core.cache import clear_cache

        clear_cache()  # a second derivation would be read from it
        self.declared = declared
        self._symbols: dict[str, Any] = {}

    def symbol(self, name: str) -> Any:
        """Return the symbol called `name` on the declaration's tape."""
        import sympy

        return self._symbols.setdefault(name, sympy.Symbol(name, real=True))

    def lift(self, values: Sequence[Any]) -> list[Any]:
        """Return declared expressions in this calculus."""
        tape, done = self.declared.tape, {}
        for node in tape.needed(value.index for value in values):
            done[node] = self._expression(node, done)
        return [done[value.index] for value in values]

    def _expression(self, node: int, done: dict[int, Any]) -> Any:
        import sympy

        tape = self.declared.tape
        operation, arguments = tape.operations[node], [done[a] for a in tape.arguments[node]]
        if operation == "input":
            return self.symbol(tape.input_names[node])
        if operation == "const":
            scaled = tape.constants[node] * _PROPER
            exact = scaled.is_integer() and abs(scaled) < 2.0**52
            return sympy.Rational(int(scaled), _PROPER) if exact else sympy.Float(tape.constants[node])
        if operation == "neg":
            return -arguments[0]
        if operation in _INFIX:
            return _INFIX[operation](*arguments)
        return getattr(sympy, operation)(*arguments)

    def gradient(self, value: Any, symbols: Sequence[Any]) -> list[Any]:
        """Return d value / d symbols."""
        import sympy

        return [sympy.diff(value, symbol) for symbol in symbols]

    def along(self, values: Sequence[Any], symbols: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
        """Return sum_j d values / d symbols[j] * directions[j]."""
        slopes = [self.gradient(value, symbols) for value in values]
        return [sum(d * s for d, s in zip(row, directions, strict=True)) for row in slopes]

    def replace(self, values: Sequence[Any], symbols: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return `values` with `numbers` in place of `symbols`."""
        import sympy

        places = dict(zip(symbols, map(sympy.sympify, numbers), strict=True))
        return [sympy.sympify(value).xreplace(places) for value in values]


class RollingDisk:
    """The rolling disk by Kane's method, with sympy.physics.mechanics and lambdify as in their documentation."""

    PARAMETERS = (1.0, 0.5, 9.81)  # m [kg], R [m], g [m/s^2]; a thin disk, as the kit's benchmark system

    def __init__(self) -> None:
        from sympy import lambdify, symbols
        from sympy.core.cache import clear_cache
        from sympy.physics.mechanics import dynamicsymbols

        clear_cache()
        angles, speeds, constants = dynamicsymbols("q1:4"), dynamicsymbols("u1:4"), symbols("m R g")
        kane = _kane(angles, speeds, constants)
        flow = [kane.mass_matrix_full, kane.forcing_full]
        self._blocks = lambdify([*angles, *speeds, *constants], flow, cse=True)

    def rates(self, state: np.ndarray) -> np.ndarray:
        """Return the rates of heading, lean, spin and of the angular velocity [6]."""
        matrix, right = self._blocks(*state, *self.PARAMETERS)
        return np.linalg.solve(matrix, right)[:, 0]

    def run(self, state: np.ndarray, n_steps: int, step: float) -> np.ndarray:
        """Return the state after steps of RK4."""
        for _ in range(n_steps):
            a = self.rates(state)
            b = self.rates(state + 0.5 * step * a)
            c = self.rates(state + 0.5 * step * b)
            d = self.rates(state + step * c)
            state = state + step / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        return state


def _kane(angles: Any, speeds: Any, constants: Any) -> Any:
    from sympy.physics import mechanics as me

    m, radius, g = constants
    ground = me.ReferenceFrame("N")
    yawed = ground.orientnew("Y", "Axis", [angles[0], ground.z])
    leant = yawed.orientnew("L", "Axis", [angles[1], yawed.x])
    disk = leant.orientnew("R", "Axis", [angles[2], leant.y])
    turning = disk.ang_vel_in(ground)
    disk.set_ang_vel(ground, sum((u * axis for u, axis in zip(speeds, leant, strict=True)), 0 * leant.x))
    contact = me.Point("C")
    contact.set_vel(ground, 0)
    centre = contact.locatenew("centre", radius * leant.z)
    centre.v2pt_theory(contact, ground, disk)
    inertia = me.inertia(leant, m / 4 * radius**2, m / 2 * radius**2, m / 4 * radius**2)
    body = me.RigidBody("disk", centre, disk, m, (inertia, centre))
    kinematic = [me.dot(disk.ang_vel_in(ground) - turning, axis) for axis in leant]
    kane = me.KanesMethod(ground, q_ind=angles, u_ind=speeds, kd_eqs=kinematic)
    kane.kanes_equations([body], [(centre, -m * g * ground.z)])
    return kane


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


class AlgebraPeer:
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
