"""Descent along slopes: to the minimum of what is smooth, inside the box, the same for the same seed."""

import numpy as np
import pytest

from sscq.search.cmaes import CmaEs
from sscq.search.descent import COST, GradientDescent, descend

LOW, HIGH = [-2.0, 0.01, -1.0], [2.0, 10.0, 1.0]
SCALE = ("linear", "log", "linear")


class Valley:
    """A curved valley whose minimum lies at (0.5, 1, 0.25) in a box, the last gene held by a wall at `wall`."""

    def __init__(self, wall=np.inf):
        self.wall, self.calls = wall, 0

    def stricter(self, factor):
        return self

    def slopes(self, genomes):
        self.calls += len(genomes)
        a, b, c = genomes.T
        log = np.log(b)
        over = np.maximum(0.0, c - self.wall)
        value = (a - 0.5) ** 2 + 5.0 * (log - (a - 0.5) ** 2) ** 2 + (c - 0.25) ** 2 + 100.0 * over
        bent = 10.0 * (log - (a - 0.5) ** 2)
        found = [2.0 * (a - 0.5) - 2.0 * bent * (a - 0.5), bent / b, 2.0 * (c - 0.25) + 100.0 * (over > 0.0)]
        return value, np.stack(found, axis=1)


def run(objective=None, evaluations=2000, seed=0, **more):
    given = objective or Valley()
    return descend(
        given, LOW, HIGH, GradientDescent(evaluations=evaluations, **more), seed, [[-1.5, 5.0, -0.5]], scale=SCALE
    )


def test_it_finds_the_minimum():
    np.testing.assert_allclose(run().genome, [0.5, 1.0, 0.25], atol=0.02)


def test_it_stays_in_the_box_and_finds_a_minimum_on_a_wall():
    found = run(Valley(wall=0.1))
    assert found.genome[2] == pytest.approx(0.1, abs=0.02)
    held = descend(
        Valley(), [1.0, 0.01, -1.0], HIGH, GradientDescent(evaluations=2000), 0, [[1.5, 5.0, 0.0]], scale=SCALE
    )
    assert held.genome[0] == 1.0


def test_a_gene_of_one_value_keeps_it():
    found = descend(
        Valley(), [-2.0, 3.0, -1.0], [2.0, 3.0, 1.0], GradientDescent(evaluations=600), 0, [[0.0, 3.0, 0.0]]
    )
    assert found.genome[1] == 3.0
    assert found.genome[2] == pytest.approx(0.25, abs=0.02)


def test_the_budget_is_kept_and_one_seed_gives_one_result():
    objective = Valley()
    found = run(objective, 1000)
    assert found.evaluations == COST * objective.calls <= 1000
    np.testing.assert_array_equal(found.genome, run(evaluations=1000).genome)
    assert not np.array_equal(found.incumbents, run(evaluations=1000, seed=1).incumbents)
    assert found.fitness <= found.history.best.min()
    assert any((row == found.genome).all() for row in found.incumbents)


@pytest.mark.parametrize(("evaluations", "starts"), [(10, 1), (1500, 7), (20000, 16)])
def test_as_many_starts_as_can_be_looked_at(evaluations, starts):
    assert GradientDescent(evaluations=evaluations).starts == starts


def test_the_deeper_of_two_valleys_is_found_where_the_start_lies_in_the_other():
    """A single descent from the start ends in the shallow one; of those that are looked at, the deep one goes on."""

    class Two(Valley):
        def slopes(self, genomes):
            x = genomes[:, 0]
            depth = np.where(x > 0.0, (x - 1.0) ** 2 - 0.5, (x + 1.0) ** 2)
            return depth, (2.0 * np.where(x > 0.0, x - 1.0, x + 1.0))[:, None]

    def found(evaluations):
        return descend(Two(), [-2.0], [2.0], GradientDescent(evaluations=evaluations, spread=0.4), 0, [[-1.0]])

    assert found(150).genome[0] == pytest.approx(-1.0, abs=0.01)
    deep = found(3000)
    assert deep.genome[0] == pytest.approx(1.0, abs=0.01)
    assert deep.fitness == pytest.approx(-0.5, abs=1e-4)
    assert (np.diff(deep.history.best) <= 0.0).all()
    assert (np.diff(deep.history.evaluations) > 0).all()


def test_what_stands_in_without_slopes():
    method = GradientDescent(evaluations=700).without_slopes(9)
    assert isinstance(method, CmaEs)
    assert method.evaluations == 700
