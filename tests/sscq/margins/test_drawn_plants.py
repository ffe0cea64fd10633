"""Margins over drawn plants: against closed formulas of a lag with dead time, eigenvalues, and the nominal margins."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, GainTable
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.balancing_vehicle.model import NOMINAL_GAINS
from sscq.margins.coupled.margins import limited_coupled_margins
from sscq.margins.drawn_plants import DrawnPlants
from sscq.margins.margins import MarginLimits, limited_margins
from sscq.margins.operating import AT_THE_EDGE, STABLE, OperatingMargins

STEP, LIMITS = 0.1, MarginLimits(1.8)
FOPDT = plants.get("fopdt")
LAW = PID(rate_source="difference")
LOW, HIGH = [0.0] * 3, [3.0] * 3
CORNERS = list(itertools.product((0.7, 1.3), (0.8, 1.2), (0.3, 0.6), (0.0, 0.2)))  # gain, lag, dead time, loop's delay


def drawn(values=CORNERS):
    return [sscq.Situation(parameters={"K": K, "T": T, "L": L}, delay=d) for K, T, L, d in values]


def of_lag(gains, K, T, L, delay):
    """Stability and Ms of a sampled PI loop about a lag with dead time, from its characteristic polynomial and L(z)."""
    kp, ki = gains[:2]
    a, m = np.exp(-STEP / T), round((L + delay) / STEP)
    control = np.array([kp, ki * STEP - kp])  # of kp + ki h / (z - 1), over z - 1
    closed = np.polyadd(np.polymul(np.polymul([1.0, -1.0], [1.0, -a]), [1.0] + [0.0] * m), K * (1.0 - a) * control)
    z = np.exp(1j * np.linspace(1e-5, np.pi, 100_000))
    loop = K * (1.0 - a) / (z - a) / z**m * np.polyval(control, z) / (z - 1.0)
    return bool((np.abs(np.roots(closed)) < 1.0).all()), float((1.0 / np.abs(1.0 + loop)).max())


@pytest.fixture(scope="module")
def corners():
    return DrawnPlants(FOPDT, LAW, drawn(), STEP, LOW, HIGH)


@pytest.mark.parametrize("gains", [(0.6, 0.6, 0.0), (0.9, 0.9, 0.0), (0.3, 0.8, 0.0), (1.2, 1.0, 0.0)])
def test_a_lag_with_dead_time_at_the_corners_of_its_ranges(corners, gains):
    """Highest gain and longest dead time are worst; which lag is, the formula tells."""
    known = [of_lag(gains, *corner) for corner in CORNERS]
    found = corners.margins(LAW, np.array(gains), LIMITS)
    assert found.pairs == len(CORNERS)
    assert found.skipped == 0
    assert found.stable == np.mean([stable for stable, _ in known])
    if found.stable == 1.0:
        peaks = np.array([peak for _, peak in known])
        corner = CORNERS[int(peaks.argmax())]
        assert corner[0] == 1.3
        assert corner[2:] == (0.6, 0.2)
        assert found.sensitivity == pytest.approx(peaks.max(), rel=2e-4)
        assert found.worst.parameters == dict(zip("KTL", corner[:3], strict=True))
        assert found.worst.delay == pytest.approx(0.8)
        assert found.kept == np.mean(peaks <= 1.8)


def test_unstable_plants_are_counted_and_named(corners):
    gains = (2.2, 1.5, 0.0)
    stable = [of_lag(gains, *corner)[0] for corner in CORNERS]
    found = corners.margins(LAW, np.array(gains), LIMITS)
    assert 0 < sum(stable) < len(CORNERS)
    assert found.unstable == tuple(k for k, one in enumerate(stable) if not one)
    assert found.stable == sum(stable) / len(CORNERS)
    assert found.sensitivity == found.sensitivity_95 == np.inf
    assert found.delay_margin == 0.0


def test_95_percent_of_many_draws():
    """The value that 190 of 200 keep, and the share that keeps the limit; ten of them are far out."""
    rng = np.random.default_rng(1)
    values = [(rng.uniform(0.7, 1.0), rng.uniform(0.8, 1.2), 0.1 * rng.integers(3, 6), 0.0) for _ in range(190)]
    values += [(2.0, 1.0, 0.6, 0.2)] * 10
    gains = (0.8, 0.7, 0.0)
    peaks = np.sort([of_lag(gains, *value)[1] for value in values])
    found = DrawnPlants(FOPDT, LAW, drawn(values), STEP, LOW, HIGH).margins(LAW, np.array(gains), LIMITS)
    assert found.sensitivity == pytest.approx(peaks[-1], rel=2e-4)
    assert found.sensitivity_95 == pytest.approx(peaks[189], rel=2e-4)
    assert found.sensitivity > 1.5 * found.sensitivity_95
    assert found.kept == 0.95


def test_gains_in_passing_have_a_limit_of_their_own(corners):
    """Ms at rest is that of the gains at rest; the pairs that keep the margins are those that keep both limits."""
    mild, wild = (0.3, 0.3, 0.0), (0.9, 0.9, 0.0)
    over_error = Controller(LAW, GainTable("error", (0.0, 1.0), transform="magnitude"))
    rest, alone = (corners.margins(LAW, np.array(gains), LIMITS) for gains in (mild, wild))
    found = corners.margins(over_error, np.array([*mild, *wild]), LIMITS)
    assert found.sensitivity == rest.sensitivity < 1.8
    assert found.transient == pytest.approx(alone.sensitivity, rel=1e-12)  # none between them is worse
    assert alone.sensitivity > 2.6
    peaks = np.array([of_lag(wild, *corner)[1] for corner in CORNERS])
    assert found.kept == np.mean(peaks <= 2.6) < 1.0 == rest.kept
    assert alone.kept == np.mean(peaks <= 1.8) < found.kept
    turned = corners.margins(over_error, np.array([*wild, *mild]), LIMITS)
    assert turned.sensitivity == pytest.approx(turned.transient, rel=1e-12)
    assert turned.sensitivity == pytest.approx(alone.sensitivity, rel=1e-12)
    assert turned.kept == alone.kept


def test_pairs_that_are_unstable_in_passing_are_counted_and_named(corners):
    mild, wild = (0.3, 0.3, 0.0), (2.2, 1.5, 0.0)
    over_error = Controller(LAW, GainTable("error", (0.0, 1.0), transform="magnitude"))
    found = corners.margins(over_error, np.array([*mild, *wild]), LIMITS)
    lost = [k for k, corner in enumerate(CORNERS) if not of_lag(wild, *corner)[0]]
    assert 0 < len(lost) < len(CORNERS)
    assert found.unstable == tuple(lost)
    assert found.stable == 1.0 - len(lost) / len(CORNERS)
    assert found.sensitivity == corners.margins(LAW, np.array(mild), LIMITS).sensitivity
    assert found.transient == np.inf


def test_each_pair_has_the_gains_of_its_own_output():
    """A table over the level, which the plant holds at 1 and 3 however it is drawn: the wild gains stand at 3 alone."""
    plant = replace(FOPDT, operating_points=tuple(OperatingPoint(f"at {y}", (y,)) for y in (1.0, 3.0)))
    law, mild, wild = Controller(LAW, GainTable(FOPDT.channels[0].output, (1.0, 3.0))), (0.3, 0.3, 0.0), (0.9, 0.9, 0.0)
    draws = drawn([(1.0, 1.0, 0.3, 0.0), (1.3, 0.8, 0.6, 0.2)])
    found = DrawnPlants(plant, law, draws, STEP, LOW, HIGH).margins(law, np.array([*mild, *wild]), LIMITS)
    peaks = [[of_lag(gains, *corner)[1] for corner in ((1.0, 1.0, 0.3, 0.0), (1.3, 0.8, 0.6, 0.2))]
             for gains in (mild, wild)]  # fmt: skip
    assert found.sensitivity == pytest.approx(peaks[1][1], rel=2e-4)
    assert (found.worst.draw, found.worst.operating_point) == (1, "at 3.0")
    assert found.kept == 0.75  # at 1 the gains half-way to the wild ones are all that is passed through
    assert found.pairs == 4


def crossed(t, x, u, w, p):
    """Two lags, each moved a little by the other's input."""
    return -p[0] * x[0] + u[0] + 0.3 * u[1], 0.2 * u[0] - x[1] + u[1]


PAIR = Plant(
    "pair", (Quantity("a", ""), Quantity("b", "")), (Quantity("rate", "1/s", 1.0),),
    inputs=(Quantity("left", ""), Quantity("right", "")), channels=(Channel("a"), Channel("b")), derivative=crossed,
    operating_points=(OperatingPoint("rest", (0.0, 0.0)), OperatingPoint("up", (1.0, 0.0))),
)  # fmt: skip


@pytest.mark.parametrize(("plant", "n"), [(plants.get("van_der_pol"), 1), (PAIR, 2)])
def test_a_draw_of_nominal_parameters_has_the_nominal_margins(plant, n):
    gains = np.array([5.0, 2.0, 1.0] * n)
    situations = [sscq.Situation(delay=0.03)]
    low, high = [0.0] * 3 * n, [10.0] * 3 * n
    known = OperatingMargins(plant, (PID(),) * n, situations, 0.01, low, high, LIMITS).worst(gains)
    plants_drawn = DrawnPlants(plant, (PID(),) * n, situations * 3, 0.01, low, high)
    found = plants_drawn.margins((PID(),) * n, gains, LIMITS)
    assert found.sensitivity == found.transient == pytest.approx(max(one.sensitivity.value for one in known), rel=1e-4)
    assert found.delay_margin == pytest.approx(min(one.delay_margin.value for one in known), rel=1e-4)
    assert found.pairs == 3 * len(plant.operating_points)


@pytest.mark.parametrize(
    ("plant", "gains"), [(plants.get("van_der_pol"), (5.0, 2.0, 1.0)), (PAIR, (2.0, 1.0, 0.0) * 2)]
)
def test_the_number_of_threads_changes_nothing(plant, gains):
    """Some of the loops are stable, some are not; there are more than one call of a thread takes."""
    laws, n = (PID(),) * len(plant.channels), len(gains)
    draws = [sscq.Situation(delay=delay) for delay in np.linspace(0.0, 1.5, 20)]
    one, two = (
        DrawnPlants(plant, laws, draws, 0.05, [0.0] * n, [10.0] * n, threads).margins(laws, np.array(gains), LIMITS)
        for threads in (1, 2)
    )
    assert one == two
    assert 0.0 < one.stable < 1.0


@pytest.mark.parametrize(
    ("plant", "gains", "limited"),
    [
        (plants.get("van_der_pol"), (5.0, 2.0, 1.0), limited_margins),
        (PAIR, (2.0, 1.0, 0.0) * 2, limited_coupled_margins),
    ],
)
def test_what_else_is_limited_is_the_same_where_delay_margins_are_not_asked(plant, gains, limited):
    laws, n = (PID(),) * len(plant.channels), len(gains)
    draws = [sscq.Situation(delay=delay) for delay in (0.0, 0.2, 0.4)]
    responses = DrawnPlants(plant, laws, draws, 0.05, [0.0] * n, [10.0] * n).channels.responses
    own = np.outer(np.geomspace(0.05, 2.0, 7), gains)[None] * np.ones((len(responses), 1, 1))
    stable, sensitivity, delay = limited(own, responses)
    found = limited(own, responses, delays=False)
    np.testing.assert_array_equal(found, [stable, sensitivity, np.zeros_like(delay)])
    assert 0.0 < stable.mean() < 1.0
    assert delay.any()


def test_each_draw_has_its_own_delay():
    """A long delay of one draw is not laid on the others, as it is where the taught situations are the constraint."""
    gains = np.array([0.9, 0.9, 0.0])
    both = DrawnPlants(FOPDT, LAW, drawn([(1.0, 1.0, 0.3, 0.0), (1.0, 1.0, 0.3, 1.5)]), STEP, LOW, HIGH)
    found = both.margins(LAW, gains, LIMITS)
    assert found.stable == found.kept == 0.5
    assert found.unstable == (1,)


def test_points_without_a_state_of_rest_are_left_out_and_counted():
    """The input that holds the state is the parameter: within its bounds or not."""
    plant = Plant(
        "held", (Quantity("x", ""),), (Quantity("pull", "", 0.5),), inputs=(Quantity("u", "", low=-1.0, high=1.0),),
        channels=(Channel("x"),), derivative=lambda t, x, u, w, p: (u[0] - p[0] * x[0],),
        operating_points=(OperatingPoint("one", (1.0,)),),
    )  # fmt: skip
    values = (0.5, 0.9, 1.1, 1.5)
    draws = [sscq.Situation(parameters={"pull": value}) for value in values]
    found = DrawnPlants(plant, LAW, draws, STEP, LOW, HIGH).margins(LAW, np.array([1.0, 0.5, 0.0]), LIMITS)
    assert (found.pairs, found.skipped) == (2, 2)
    with pytest.raises(ValueError, match="none of 2 drawn plants"):
        DrawnPlants(plant, LAW, draws[2:], STEP, LOW, HIGH)
    with pytest.raises(ValueError, match="need operating points"):
        DrawnPlants(replace(plant, operating_points=()), LAW, draws, STEP, LOW, HIGH)


def test_what_constant_gains_keep_at_drawn_plants_is_asked_of_others():
    """The formula tells which corners keep the limits, which are stable, and which are lost: those are not asked."""
    gains = np.array([1.8, 1.4, 0.0])
    known = [of_lag(gains, *corner) for corner in CORNERS]
    stable = [peak for ok, peak in known if ok and peak < STABLE.sensitivity]
    kept = [peak for peak in stable if peak <= LIMITS.sensitivity]
    assert 0 < len(kept) < len(stable) < len(CORNERS)  # all three kinds are there
    nominal = OperatingMargins(FOPDT, LAW, [sscq.Situation()], STEP, LOW, HIGH, LIMITS)
    asked = nominal.and_of(gains, drawn(), LOW, HIGH)
    assert len(asked.points) == len(nominal.points) + len(stable)
    assert len(asked.lenient) == len(stable) - len(kept)
    own, less = gains[None, None], np.array([[[0.2, 0.2, 0.0]]])
    alone = nominal.with_limits(LIMITS).keeps(gains)
    assert asked.keeps_of(LAW, gains) is alone  # whatever the nominal plant says: nothing is added for these gains
    assert asked.violation_of(LAW, less[0])[0] == nominal.violation_of(LAW, less[0])[0] == 0.0
    more = 1.3 * own
    assert asked.violation_of(LAW, more[0])[0] > nominal.violation_of(LAW, more[0])[0] + 0.2


def test_pairs_of_drawn_plants_are_asked_for_what_constant_gains_keep_there():
    """Near the edge of stability, too: there other gains lose a loop first."""
    gains = np.array([1.8, 1.4, 0.0])
    law, draws = Controller(LAW, ConstantGains()), [sscq.Situation(delay=d) for d in np.linspace(0.0, 1.5, 61)]
    plants = DrawnPlants(FOPDT, LAW, draws, STEP, LOW, HIGH)
    peaks = plants.channels.margins(gains)[0].sensitivity[0]
    found = plants.margins(law, gains, LIMITS)
    assert found.broken == tuple(np.flatnonzero(~(peaks <= LIMITS.sensitivity)))
    assert len(found.unstable) == int(np.isinf(peaks).sum()) > 0
    nominal = OperatingMargins(FOPDT, LAW, [sscq.Situation()], STEP, LOW, HIGH, LIMITS)
    asked = nominal.and_at(gains, plants.channels)
    known = [int(((peaks > over) & (peaks <= upto)).sum()) for over, upto in ((0, 1.8), (1.8, 10.0), (10.0, 200.0))]
    assert min(known) > 0
    assert len(asked.points) == len(nominal.points) + sum(known)
    levels = list(asked.lenient.values())
    assert [levels.count(STABLE), levels.count(AT_THE_EDGE)] == known[1:]


def test_each_drawn_loop_has_its_own_delay():
    """Two plants alike but for the loop's delay are two cases, the later one with the larger Ms."""
    nominal = OperatingMargins(FOPDT, LAW, [sscq.Situation()], STEP, LOW, HIGH, LIMITS)
    asked = nominal.and_of(np.array([0.3, 0.3, 0.0]), [sscq.Situation(), sscq.Situation(delay=0.4)], LOW, HIGH)
    peaks = asked.margins(np.array([0.5, 0.5, 0.0]))[0].sensitivity[0]
    assert len(peaks) == 3
    assert peaks[0] == pytest.approx(peaks[1], rel=1e-9)
    assert peaks[2] > 1.1 * peaks[1]


def test_of_several_channels_plants_that_nothing_holds_add_nothing():
    """A vehicle on a slope does not stand upright; designs of it drew such slopes alone, and broke off."""
    vehicle = plants.get("balancing_vehicle")
    low, high = (
        [end for c in vehicle.channels for end in getattr(c, side) or (0.0,) * 3]
        for side in ("gains_low", "gains_high")
    )
    laws = (PID(sample_time=0.005),) * 3
    nominal = OperatingMargins(vehicle, laws, [sscq.Situation()], 0.001, low, high, MarginLimits())
    asked = nominal.and_of(np.array(NOMINAL_GAINS), [sscq.Situation(parameters={"slope_x": 0.3})], low, high)
    assert len(asked.points) == len(nominal.points) == 1
