"""Rule bases that several tests start from, and what is asked of knowledge bases."""

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from controllers.probes import gains_at
from flcs import FuzzyController, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from sscq.baselines.objective import Objective


def nine_rules(gains, reference, *, shape="triangular", order=0, on=None, name="position"):
    """Nine rules on e in [-2, 2] and e' in [-4, 4], with gains [9, 3] or one set for all, in the box [0, 10]^3."""
    inputs = (
        Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0), shape=shape),
        Variable("e_rate", "m/s", -4.0, 4.0, (-4.0, 0.0, 4.0), shape=shape),
    )
    rows = zip(full_grid([3, 3], reference, order), np.broadcast_to(gains, (9, 3)), on or [True] * 9, strict=True)
    rules = tuple(replace(rule, gains=tuple(map(float, row)), on=o) for rule, row, o in rows)
    return RuleBase(name, inputs, rules, (0.0,) * 3, (10.0,) * 3, reference)


def value_in_loop(kb, task, laws):
    """Fitness of a knowledge base in the situations of a task."""
    controller = FuzzyController(kb, laws=laws)
    return float(Objective(task, controller)(controller.theta[None])[0])


def probed_gains(kb, near=None, count=16, seed=0):
    """Gains [n_places, n_gains] in passing that margins are asked of, and the probes at which they are given."""
    controller = FuzzyController(kb)
    schedule, theta = controller.schedule.settled, controller.theta[None]
    probes = schedule.probes(theta, near or {}, count, seed)
    return gains_at(schedule, theta, probes)[0], probes


def in_hull(vertices, point):
    """Whether a point is a mean of the vertices (a linear program)."""
    A = np.vstack([vertices.T, np.ones(len(vertices))])
    options = {"primal_feasibility_tolerance": 1e-9}
    return linprog(np.zeros(len(vertices)), A_eq=A, b_eq=np.append(point, 1.0), options=options).status == 0
