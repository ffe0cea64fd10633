"""Motions from equations written anew: Lagrange's by sympy, integrated by SciPy, beside the compiled plant."""

from __future__ import annotations

import numpy as np
import sympy
from scipy.integrate import solve_ivp

import plants
from plants.excitation import Sine


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


def driven(plant, rates, initial, sizes, t_end, step, parameters=None):
    """Return the last state twice: as compiled, and as `rates(t, state, values)` say, values = parameters, u, w.

    All inputs, about their nominal values, and all disturbances are sines of the given sizes.
    """
    quantities = (*plant.inputs, *plant.disturbances)
    sines = [Sine(size, 0.31 + 0.17 * k, 0.4 + k) for k, size in enumerate(sizes)]
    rest = [q.nominal for q in plant.inputs] + [0.0] * len(plant.disturbances)
    p, n_u = plant.values("parameters", parameters), len(plant.inputs)

    def values(t):
        waves = (s.amplitude * np.sin(2.0 * np.pi * s.frequency * t + s.phase) for s in sines)
        return [*p, *(level + wave for level, wave in zip(rest, waves, strict=True))]

    assert len(sizes) == len(quantities)
    signals = [level + sine for level, sine in zip(rest[:n_u], sines, strict=False)]
    run = plants.simulate(plant, t_end, step, initial, parameters, inputs=signals, disturbances=sines[n_u:])
    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    expected = solve_ivp(lambda t, s: rates(t, s, values(t)), (0.0, t_end), initial, **options).y[:, -1]
    return run.states[-1], expected
