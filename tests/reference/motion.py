"""Lagrange's equations written anew by sympy, to hold plants against."""

import numpy as np
import sympy


def lagrange(coordinates, kinetic, potential, forces, parameters, inputs):
    """Return rates(t, [q, q'], values) of d/dt (dT/dq') - dT/dq + dV/dq = Q.

    Parameters
    ----------
    coordinates : pairs (q, q') of symbols
    kinetic, potential : expressions
    forces : generalised forces Q, expressions
    parameters, inputs : symbols in the order of `values`
    """
    q, v = ([pair[k] for pair in coordinates] for k in (0, 1))
    momenta = [sympy.diff(kinetic, rate) for rate in v]
    mass = sympy.Matrix([[sympy.diff(momentum, rate) for rate in v] for momentum in momenta])
    right = sympy.Matrix([
        force + sympy.diff(kinetic - potential, place) - sum(sympy.diff(momentum, a) * b for a, b in coordinates)
        for force, momentum, place in zip(forces, momenta, q, strict=True)
    ])  # fmt: skip
    evaluate = sympy.lambdify([*q, *v, *parameters, *inputs], [mass, right], "numpy")
    n = len(q)

    def rates(t, state, values):
        matrix, column = evaluate(*state, *values)
        return np.concatenate([state[n:], np.linalg.solve(matrix, column)[:, 0]])

    return rates
