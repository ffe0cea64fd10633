"""What an error budget buys: the table by hand, and the whole way on a small search."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import settings
from experiments.runtime import launch
from experiments.studies.van_der_pol import regularisers
from experiments.studies.van_der_pol.regularisers import BUDGETS, DELAYS, Row


def test_the_table_by_hand():
    lost = np.array([0, 0, 0, 1])
    least = Row(
        "least error", np.array([10.0, 1.5]), np.array([1.0, 20.0, 50.0, 8.0]), np.array([2.0, 2.5, 3.0, 4.0]), lost
    )
    gentle = Row("least entropy", np.array([5.0, 0.5]), np.array([1.2, 15.0, 40.0, 4.0]), np.full(4, np.nan), 0 * lost)
    lines = regularisers.table(0.2, [least, gentle], ("kp", "ki"), "IAE")
    assert lines[0] == "### Error up to 1.2 times the least"
    assert lines[2].count("|") == lines[4].count("|") == 2 + 2 + 4 + len(DELAYS)
    assert lines[4] == "| least error | 10 | 1.5 | 1 | 20 | 50 | 8 | 2 | 2.5 | 3 | 4 (1 lost) |"
    assert lines[5].startswith("| least entropy | 5 | 0.5 | 1.2 (+20 %) | 15 (-25 %) | 40 (-20 %) | 4 (-50 %) | - |")


@pytest.mark.slow
def test_each_regulariser_gets_the_least_of_its_own_within_the_budget():
    """The known answer of the method's study: within 1.2 times the least error, a fifth less entropy production."""
    job = settings.setup(launch.configured("design", ["experiment=van_der_pol_study", "budget.evaluations=1500"]))
    found = regularisers.rows(job)
    for budget in BUDGETS:
        least, *others = found[budget]
        taught = np.array([row.taught for row in others])
        assert (taught[:, 0] <= (1.0 + budget) * least.taught[0] * 1.001).all()
        for k in range(len(others)):
            assert taught[k, 1 + k] <= taught[:, 1 + k].min() * 1.02  # two searches of one budget: 2 % of slack
    least, entropy, *_ = found[0.2]
    assert entropy.taught[1] < 0.8 * least.taught[1]
