"""The tracking error as a condition of the verdict, where the fitness weighs one."""

from dataclasses import replace

import numpy as np
import pytest

from sscq.verdict.comparison import compare
from sscq.verdict.verdict import decide
from tests.sscq.verdict.test_verdict import BASE, ORDER, TITLES, changed


def test_what_tracks_worse_does_not_replace_fixed_gains_however_good_its_fitness():
    base = replace(BASE, error=BASE.fitness, error_name="IAE")
    worse = changed(base, 0.8, error=1.041 * base.error)
    found = compare(worse, base)
    assert found.reasons == ("it tracks worse: IAE +4.1 % [+4.1, +4.1]",)
    decision = decide({"fixed": base, "kb": worse}, "fixed", ORDER, TITLES, {})
    assert decision.recommended == "fixed"
    assert "it tracks worse: IAE +4.1 %" in decision.sentence
    assert compare(changed(base, 0.8, error=base.error), base).passes  # equal is not worse
    noise = np.where(np.arange(len(base.error)) % 2, 0.5, 1.52)[:, None]  # 0.5 and 1.52 seed by seed
    (told,) = compare(changed(base, 0.8, error=noise * base.error), base).reasons
    assert told.startswith("it may track worse: IAE +")  # as far as chance allows to say
    assert compare(changed(base, 0.8, error=0.9 * base.error), base).error.value == pytest.approx(-0.1)


def test_tracking_is_compared_where_both_survive_and_not_asked_where_the_fitness_weighs_none():
    """A rollout that is cut short has a small error: losing the loop must not pass for good tracking."""
    lost = np.zeros(BASE.failed.shape, bool)
    lost[:, 0] = True
    base = replace(BASE, error=BASE.fitness)
    cut = changed(base, 0.8, failed=lost, error=np.where(lost, 0.0, 1.1 * base.error))
    assert compare(cut, base).error.value == pytest.approx(0.1)
    unweighed = compare(changed(BASE, 0.8), BASE)
    assert unweighed.error is None
    assert unweighed.passes


def test_what_is_won_by_lower_damping_of_its_own_alone_does_not_replace_fixed_gains():
    base = replace(BASE, same_damping=BASE.fitness)
    empty = changed(base, 0.8, same_damping=1.002 * base.fitness)
    found = compare(empty, base)
    assert found.reasons == (
        "with the fixed gains' damping in place of its own J does not improve reliably (+0.2 % [+0.2, +0.2])",
    )
    assert decide({"fixed": base, "kb": empty}, "fixed", ORDER, TITLES, {}).recommended == "fixed"
    assert compare(changed(base, 0.8, same_damping=0.95 * base.fitness), base).passes
    assert compare(changed(BASE, 0.8), BASE).same_damping is None  # nothing of the kind is weighed
