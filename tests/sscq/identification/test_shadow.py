"""What other gains would have asked along a log: the loop's own gains ask what it did."""

import numpy as np
import pytest

from sscq.identification.reading.log import Log
from sscq.identification.shadow import shadowed
from tests.plants.identification.reference_logs import R1, R2


def log_of(loop, automatic=None):
    r, y, u = loop.run()
    return Log("log.csv", 1.0, r, y, u, automatic, ((0, len(y)),))


@pytest.mark.parametrize("loop", [R1, R2])
def test_a_loop_with_its_own_gains_does_what_it_did(loop):
    """Its law sums behind its output: kp of the row, ki of the row before."""
    log = log_of(loop)
    found = shadowed(log, (loop.kp - loop.ki, loop.ki, 0.0))
    np.testing.assert_allclose(found.asked[2:], log.output[2:], atol=1e-9)
    assert (found.travel, found.largest) == pytest.approx((found.made, found.largest_made), rel=1e-9)
    assert found.at_limit == 0.0


def test_twice_the_gains_move_twice_as_far_and_stop_at_limits():
    log = log_of(R1)
    once, twice = (shadowed(log, (f * 0.4, f * 0.02, f * 0.1)) for f in (1.0, 2.0))
    assert twice.travel == pytest.approx(2.0 * once.travel, rel=1e-9)
    low = float(np.median(log.output))
    assert shadowed(log, (0.4, 0.02, 0.0), limits=(low, 100.0)).at_limit == pytest.approx(0.5, abs=0.2)


def test_rows_in_manual_are_no_moves():
    automatic = np.arange(600) >= 300
    found = shadowed(log_of(R1, automatic), (0.4, 0.02, 0.0))
    assert found.rows == 298
    assert np.isnan(found.asked[:302]).all()
    with pytest.raises(ValueError, match="nothing to shadow"):
        shadowed(log_of(R1, np.zeros(600, bool)), (0.4, 0.02, 0.0))
