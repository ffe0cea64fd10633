"""A plain twin of plants with accelerations: which states are velocities, loop-free memory, what follows a step.

Written from the description of the methods, with NumPy's solver and plain lists, not from the kernel. Iterated modes
are solved here: they agree to the iteration's tolerance.
"""

import numpy as np

SHARES = {"loop_free": 1.0, "loop_free_relaxed": 0.5, "loop_free_filtered": 0.1}
TABLEAUS = {
    "euler": ([0.0], [], [1.0]),
    "heun": ([0.0, 1.0], [1.0], [0.5, 0.5]),
    "rk2": ([0.0, 0.5], [0.5], [0.0, 1.0]),
    "rk4": ([0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


class Twin:
    """A plant's motion, step by step.

    Parameters
    ----------
    plant : Plant
        With mass_matrix and force.
    velocities : list of int
        Places of the accelerated states.
    u : callable
        Time to inputs.
    """

    def __init__(self, plant, velocities, u=lambda _t: ()):
        self.plant, self.velocities, self.u = plant, list(velocities), u
        self.others = [k for k in range(len(plant.states)) if k not in self.velocities]
        self.w, self.p = (0.0,) * len(plant.disturbances), plant.nominal()

    def matrices(self, t, x):
        block = (t, tuple(x), self.u(t), self.w, self.p)
        return np.array(self.plant.mass_matrix(*block), float), np.array(self.plant.force(*block), float)

    def gain(self, x):
        """Spectral radius of Jacobi's iteration."""
        matrix, _ = self.matrices(0.0, x)
        return np.abs(np.linalg.eigvals(np.eye(len(matrix)) - matrix / np.diag(matrix)[:, None])).max()

    def rates(self, t, x, rebuilt=None):
        matrix, force = self.matrices(t, x)
        if rebuilt is None:
            a = np.linalg.solve(matrix, force)
        else:
            diagonal = np.diag(matrix)
            a = (force - (matrix - np.diag(diagonal)) @ rebuilt) / diagonal
        rates = np.empty(len(x))
        rates[self.velocities] = a
        known = self.plant.kinematics
        rates[self.others] = x[self.velocities] if known is None else known(t, tuple(x), self.u(t), self.w, self.p)
        return rates

    def run(self, n_steps, h, mode="solved", integrator="rk4"):
        """Return all states [n_steps + 1, n_x]."""
        x, share = np.array(self.plant.initial()), SHARES.get(mode)
        before, rebuilt = x[self.velocities], np.zeros(len(self.velocities))
        states = [x]
        for k in range(n_steps):
            if share is not None:
                rebuilt = rebuilt + share * ((x[self.velocities] - before) / h - rebuilt)
                before = x[self.velocities]
            given = None if share is None else rebuilt
            x = self._step(k * h, x, h, integrator, given)
            if self.plant.after_step is not None:
                end = (k + 1) * h
                new = np.array(self.plant.after_step(end, tuple(x), self.u(end), self.w, self.p, h), float)
                before = before + (new - x)[self.velocities]  # a jump is no acceleration
                x = new
            states.append(x)
        return np.array(states)

    def _step(self, t, x, h, integrator, rebuilt):
        nodes, moves, weights = TABLEAUS[integrator]
        total, point = np.zeros(len(x)), x
        for k, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
            rates = self.rates(t + node * h, point, rebuilt)
            total = total + weight * rates
            if k < len(moves):
                point = x + moves[k] * h * rates
        return x + h * total
