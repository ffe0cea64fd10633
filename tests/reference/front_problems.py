"""Problems whose fronts are known, and how far a set of points is from them.

Sources: Zitzler, Deb and Thiele, Evolutionary Computation 8 (2000), 173-195 (ZDT); Deb, Thiele, Laumanns and Zitzler,
Scalable multi-objective optimization test problems, CEC 2002 (DTLZ).
"""

import numpy as np

SPACING = 101


def zdt1(x):
    """Convex front f2 = 1 - sqrt(f1)."""
    g = 1.0 + 9.0 * x[:, 1:].mean(axis=1)
    return np.column_stack([x[:, 0], g * (1.0 - np.sqrt(x[:, 0] / g))])


def zdt2(x):
    """Front f2 = 1 - f1^2, which no weighted sum can find."""
    g = 1.0 + 9.0 * x[:, 1:].mean(axis=1)
    return np.column_stack([x[:, 0], g * (1.0 - (x[:, 0] / g) ** 2)])


def dtlz2(x):
    """Three objectives; the front is an eighth of the unit sphere."""
    g = 1.0 + ((x[:, 2:] - 0.5) ** 2).sum(axis=1)
    a, b = 0.5 * np.pi * x[:, :2].T
    return np.column_stack([g * np.cos(a) * np.cos(b), g * np.cos(a) * np.sin(b), g * np.sin(a)])


def true_front(function):
    """Points evenly on the known front [n, m]."""
    t = np.linspace(0.0, 1.0, SPACING)
    if function is zdt1:
        return np.column_stack([t, 1.0 - np.sqrt(t)])
    if function is zdt2:
        return np.column_stack([t, 1.0 - t * t])
    grid = np.array([(i, j, 20 - i - j) for i in range(21) for j in range(21 - i)], float)
    return grid / np.linalg.norm(grid, axis=1, keepdims=True)


def distance(front, found):
    """Inverted generational distance: mean distance of the front's points from the nearest point found."""
    return np.linalg.norm(front[:, None, :] - found[None, :, :], axis=2).min(axis=1).mean()
