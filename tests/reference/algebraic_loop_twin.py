"""Plain twins of iterated algebraic loops, which count how often the plant's equations are called; and coupled plants.

Written from the description of the methods, not from the kernel: Newton with difference quotients, Newton with the
derivative, Gauss-Seidel, each until every residual is below the tolerance, inside a textbook Runge-Kutta step.
"""

import numpy as np

from plants import Plant, Quantity
from plants.core.elementary import cos, sin

TOLERANCE, PROBE = 1e-10, 1e-6


class Counted:
    """A plant's equations a = f(a), counting calls."""

    def __init__(self, plant, inputs=()):
        self.plant, self.n = plant, len(plant.states) // 2
        self.u, self.w, self.p = tuple(inputs), (0.0,) * len(plant.disturbances), plant.nominal()
        self.calls = 0

    def __call__(self, x, a):
        self.calls += 1
        if self.plant.acceleration is not None:
            return np.array(self.plant.acceleration(0.0, tuple(x), tuple(a), self.u, self.w, self.p))
        matrix, force = self.matrices(x)
        return (force - matrix @ a + np.diag(matrix) * a) / np.diag(matrix)

    def matrices(self, x):
        block = (0.0, tuple(x), self.u, self.w, self.p)
        return np.array(self.plant.mass_matrix(*block), float), np.array(self.plant.force(*block), float)

    def slopes(self, x):
        """Of affine equations, by differences at 0 and 1; not counted."""
        before = self.calls
        columns = [self(x, unit) - self(x, np.zeros(self.n)) for unit in np.eye(self.n)]
        self.calls = before
        return np.array(columns).T


def _met(residual, a):
    return (np.abs(residual) < TOLERANCE * (1.0 + np.abs(a))).all()


def by_differences(f, x, a):
    while True:
        base, columns = f(x, a), []
        for j in range(f.n):
            moved = a.copy()
            moved[j] += PROBE * (1.0 + abs(a[j]))
            columns.append((f(x, moved) - base) / (PROBE * (1.0 + abs(a[j]))))
        if _met(base - a, a):
            return a
        a = a + np.linalg.solve(np.eye(f.n) - np.array(columns).T, base - a)


def by_slopes(f, x, a):
    gain = f.slopes(x)
    while not _met(residual := f(x, a) - a, a):
        a = a + np.linalg.solve(np.eye(f.n) - gain, residual)
    return a


def gauss_seidel(f, x, a):
    own = np.diag(f.slopes(x))
    while True:
        before, residual = a.copy(), np.zeros(f.n)
        for i in range(f.n):
            residual[i] = f(x, a)[i] - a[i]
            a = a.copy()
            a[i] += residual[i] / (1.0 - own[i])
        f.calls -= f.n - 1  # each equation of the sweep was wanted once
        if _met(residual, before):
            return before


METHODS = {"iterated": by_differences, "iterated_exact": by_slopes, "gauss_seidel": gauss_seidel}


def simulated(plant, mode, n_steps, h, inputs=()):
    """Return the final state after `n_steps` of RK4, and how often the equations were called."""
    f, x, n = Counted(plant, inputs), np.array(plant.initial()), len(plant.states) // 2
    a = np.zeros(n)
    for _ in range(n_steps):
        total, stage = np.zeros(2 * n), x
        for weight, move in ((1, 0.5), (2, 0.5), (2, 1.0), (1, 0.0)):
            a = METHODS[mode](f, stage, a)
            rates = np.concatenate([stage[n:], a])
            total, stage = total + weight * rates / 6.0, x + move * h * rates
        x = x + h * total
    return x, f.calls


def two_masses(coupling, stiffness=9.0, damping=0.0):
    """Two unit masses on springs, coupled by their inertia alone; they start in the anti-phase mode."""

    def force(t, x, u, w, p):
        return tuple(-stiffness * q - damping * v for q, v in zip(x[:2], x[2:], strict=True))

    values = (("first", "m", 1.0), ("second", "m", -1.0), ("rate 1", "m/s", 0.0), ("rate 2", "m/s", 0.0))
    return Plant(
        name="two_masses", states=tuple(Quantity(*value) for value in values), force=force,
        mass_matrix=lambda t, x, u, w, p: ((1.0, coupling), (coupling, 1.0)),
    )  # fmt: skip


def _cart_matrix(t, x, u, w, p):
    m0, m1, m2 = p
    _, a, b = x[:3]
    ca, cb, cab = (m1 + m2) * cos(a), m2 * cos(b), m2 * cos(a - b)
    return (m0 + m1 + m2, ca, cb), (ca, m1 + m2, cab), (cb, cab, m2)


def _cart_force(t, x, u, w, p):
    _, m1, m2 = p
    _, a, b, vz, va, vb = x
    sab = m2 * sin(a - b)
    return (
        u[0] - 0.3 * vz + (m1 + m2) * sin(a) * va * va + m2 * sin(b) * vb * vb,
        9.81 * (m1 + m2) * sin(a) - sab * vb * vb - 0.05 * va,
        9.81 * m2 * sin(b) + sab * va * va - 0.05 * vb,
    )


def cart(light=False):
    """Double pendulum on a cart, links of 1 m, angles from upright; hanging, moving. A light cart has a gain above 1."""
    masses = (1.0, 1.0, 1.0) if light else (5.0, 1.0, 0.05)
    values = (("place", "m", 0.0), ("upper", "rad", 2.8), ("lower", "rad", 3.5))
    rates = (("speed", "m/s", 0.3), ("upper rate", "rad/s", -0.6), ("lower rate", "rad/s", 0.8))
    return Plant(
        name="cart", states=tuple(Quantity(*value) for value in (*values, *rates)), inputs=(Quantity("push", "N"),),
        parameters=tuple(Quantity(f"m{k}", "kg", m) for k, m in enumerate(masses)),
        mass_matrix=_cart_matrix, force=_cart_force,
    )  # fmt: skip
