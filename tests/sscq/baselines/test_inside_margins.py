"""What a search leaves a little outside the margins is led inside; whether constant gains can keep them is asked first."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.baselines import candidates
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan, search
from sscq.baselines.survey import can_be_kept
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.search.cmaes import CmaEs
from sscq.search.search import evolve

FOPDT, LAWS = plants.get("fopdt"), (PID(sample_time=0.1, rate_source="difference"),)
LOW, HIGH, START = np.zeros(3), np.full(3, 6.0), np.array([[1.0, 0.8, 0.1]])
SITUATIONS = (sscq.Situation("step", 1.0, t_end=8.0),)


def margins_of(limit=1.5, situations=SITUATIONS):
    return OperatingMargins(FOPDT, LAWS, situations, 0.05, LOW.tolist(), HIGH.tolist(), MarginLimits(limit))


def searched(weight, validation=None):
    """Gains that track best: a violation that costs next to nothing is worth its price."""
    task = Task(FOPDT, SITUATIONS, Fitness(entropy_weight=0.0, margin_weight=weight), 0.05, threads=1)
    one = candidates.fixed(LAWS, LOW, HIGH, START)
    plan = SearchPlan((CmaEs(evaluations=300),))
    return task, one, search(task, one, plan, margins_of(), None if validation is None else task)


CHEAP = 1.0


@pytest.mark.parametrize("validation", [None, "the same"])
def test_what_was_cheap_to_violate_is_kept_in_the_end(validation):
    task, one, found = searched(CHEAP, validation)
    objective = Objective(task, one.controller, one.decode, margins_of())
    first = evolve(objective, LOW, HIGH, CmaEs(evaluations=300), 0, start=one.start, scale=one.scale)
    assert not margins_of().keeps(first.genome)  # this is where the search itself ends
    assert margins_of().keeps(found.theta)
    assert [name for name, _ in found.histories] == ["CmaEs", "CmaEs"]
    assert found.spent > 300  # and what it cost is counted


def test_what_keeps_the_margins_is_not_searched_again():
    _, _, found = searched(1e3)
    assert margins_of().keeps(found.theta)
    assert len(found.histories) == 1
    assert found.spent <= 300


def test_a_stricter_objective_asks_the_same_at_a_higher_price():
    task, one, _ = searched(1.0)
    objective = Objective(task, one.controller, one.decode, margins_of())
    wild = np.array([[4.0, 4.0, 0.0]])
    assert objective.violation(wild)[0] > 0.0
    more = objective.stricter(10.0)(wild)[0] - objective(wild)[0]
    assert more == pytest.approx(9.0 * objective.violation(wild)[0], rel=1e-9)
    assert objective.stricter(10.0)(START)[0] == objective(START)[0]
    assert Objective(task, one.controller).violation(wild)[0] == 0.0


def test_whether_any_gains_keep_the_margins():
    """A lag with dead time allows next to nothing at Ms 1.001 once gains must be above a bound."""
    assert can_be_kept(margins_of(1.5), LAWS, LOW, HIGH)
    assert not can_be_kept(margins_of(1.5), LAWS, np.array([4.0, 4.0, 0.0]), HIGH)
