"""A choice that is made in rollouts of its own: what is told then has no part in it."""

import numpy as np
import pytest

from sscq.verdict import comparison, verdict
from sscq.verdict.comparison import compare
from sscq.verdict.verdict import decide
from tests.sscq.verdict.test_verdict import BASE, ORDER, TITLES, changed, rollouts


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Fewer draws than in earnest: ends of intervals move by a tenth of their width."""
    monkeypatch.setattr(comparison, "_BOOTSTRAPS", 200)


def equal_controllers(number, n=10):
    """Rollouts in two independent sets of situations, of controllers that are all alike but for their scatter."""
    found = []
    for half in range(2):
        base = rollouts(2 * number + half)
        seeds = 1000 * number + 100 * half + np.arange(n)
        found.append({"fixed": base, **{f"c{k}": changed(base, 0.3, seeds[k], spread=0.4) for k in range(n)}})
    return found


def test_a_choice_in_other_rollouts_leaves_the_interval_true(monkeypatch):
    """The mean of all ten changes by 0.3 exp(0.4^2 / 2) - 1; the best of ten looks better where it was chosen.

    An interval of 95 % covers the change in about 93 % here (24 seeds, 200 resamplings). Of 60, fewer than 48 are then
    seen with a probability of 2e-4.
    """
    monkeypatch.setattr(verdict, "NEAR", 0.0)
    truth, covered = 0.3 * np.exp(0.5 * 0.4**2) - 1.0, {"same": 0, "other": 0}
    for number in range(60):
        told, choosing = equal_controllers(number)
        for key, chosen_on in (("same", None), ("other", choosing)):
            found = decide(told, "fixed", tuple(told), dict.fromkeys(told, "controller"), {}, chosen_on=chosen_on)
            change = found.comparisons[found.recommended].mean
            covered[key] += int(change.low <= truth <= change.high)
    assert covered["other"] >= 48, covered
    assert covered["same"] < 48, covered  # or this could not fail


def test_what_fails_where_the_choice_is_made_is_not_recommended_and_says_so():
    samples = {"fixed": BASE, "table": changed(BASE, 0.9), "kb": changed(BASE, 0.7, seed=2)}
    choosing = {**samples, "kb": changed(BASE, 1.1, seed=2)}
    found = decide(samples, "fixed", ORDER, TITLES, {}, chosen_on=choosing)
    assert found.recommended == "table"
    assert found.comparisons["kb"].reasons[0].startswith("where the choice was made, the mean of J does not improve")
    assert found.comparisons["kb"].further == found.comparisons["kb"].reasons
    assert found.comparisons["table"] == compare(samples["table"], BASE)  # what is told is of the other rollouts


def test_the_chosen_one_must_pass_where_it_is_told():
    samples = {"fixed": BASE, "table": changed(BASE, 0.9), "kb": changed(BASE, 1.1, seed=2)}
    found = decide(samples, "fixed", ORDER, TITLES, {}, chosen_on={**samples, "kb": changed(BASE, 0.7, seed=2)})
    assert found.recommended == "table"
    assert not found.comparisons["kb"].passes
