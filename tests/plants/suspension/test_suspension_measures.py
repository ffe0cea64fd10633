"""The car's own measures against what its recorded signals say, the allocation beside a base, the modified sky-hook."""

import numpy as np
import pytest

import sscq
from controllers import PID
from plants.ride import WE, WK
from plants.suspension import SUSPENSION, equilibrium, rivals, suspension
from plants.suspension.parameters import C_MAX, C_MIN, loaded
from plants.suspension.signals import REST, STILL, STROKE_LIMIT, _setting, allocation, static_loads

P = SUSPENSION.nominal()
GAINS = np.array([[0.0, 0.0, 5e3, 0.0, 0.0, 5e3, 0.0, 0.0, 5e3]])


@pytest.fixture(scope="module")
def drive():
    """Class D for 8 s on worn dampers: wheels leave the road, struts travel far."""
    rough = next(one for one in SUSPENSION.situations["unforeseen"] if one["name"] == "class D at 15 m/s")
    situation = sscq.Situation(**rough | {"t_end": 8.0})
    return sscq.record(suspension(unilateral=True), PID(), GAINS, situation, step=0.001)


@pytest.mark.parametrize(("parameters", "within"), [({}, 2e-4), (loaded(300.0), 0.015)])
def test_static_loads_are_those_of_the_equilibrium(parameters, within):
    """As built the car rests nearly level; 300 kg pitch it by 2 degrees, which moves the wheels 2 cm under its mass."""
    p = SUSPENSION.values("parameters", parameters)
    state = equilibrium(parameters)
    names = [q.name for q in SUSPENSION.measurements]
    outputs = SUSPENSION.outputs(0.0, state, (3e3,) * 4 + (0.0,) * 4, (0.0,) * 8, p)
    front, rear = (outputs[names.index(f"tyre_load_{n}")] for n in ("i", "iii"))
    np.testing.assert_allclose(static_loads(p), (front, rear), rtol=within)
    assert static_loads(P)[0] == pytest.approx(3885.777937698, rel=2e-4)


def test_ride_comfort_is_the_weighted_spectrum_joined(drive):
    """The standard's weightings in the frequency domain, on the recorded accelerations: no filter of ours in it."""
    total, n = 0.0, len(drive.time) - 1
    frequency = np.fft.rfftfreq(2 * n, 0.001)  # padded with rest, in which what was felt dies out
    for name, weighting, factor in (("heave", WK, 1.0), ("pitch", WE, 0.4), ("roll", WE, 0.63)):
        felt = np.fft.rfft(drive[f"output {name}_acceleration"][:n], 2 * n) * weighting.response(frequency)
        total += factor**2 * np.sum(np.fft.irfft(felt)[:n] ** 2) / n
    assert drive["ride_comfort"][-1] == pytest.approx(np.sqrt(total), rel=2e-3)


def test_tyre_load_stroke_and_lift_off_are_those_recorded(drive):
    """Sums are left sums: all steps but the last sample."""
    loads = np.stack([drive[f"output tyre_load_{n}"][:-1] for n in ("i", "ii", "iii", "iv")])
    relative = loads / np.repeat(static_loads(P), 2)[:, None]
    expected = np.sqrt(((relative - 1.0) ** 2).mean(axis=1)).mean()
    assert drive["tyre_load_variation"][-1] == pytest.approx(expected, rel=1e-9)
    strokes = np.abs([drive[f"output stroke_{n}"][:-1] for n in ("i", "ii", "iii", "iv")]).max(axis=0)
    assert drive["stroke"][-1] == pytest.approx(strokes.max(), rel=1e-12)
    assert drive["stroke_beyond"][-1] == pytest.approx((strokes > STROKE_LIMIT).mean(), abs=1e-12)
    off = (loads <= 0.0).any(axis=0).mean()
    assert off > 0.001  # else the test says nothing
    assert drive["lift_off"][-1] == pytest.approx(off, abs=2e-3)


def test_allocation_beside_a_base():
    """Settings are the base and what the command asks beyond it, within the dampers' range."""
    x = list(REST)
    x[7] = 0.3  # the body rises, the wheels stand: arms at rest, so no damper moves
    assert allocation(1500.0)(0.0, tuple(x), (1e3, 0.0, 0.0), P)[:4] == (1500.0,) * 4
    assert allocation()(0.0, tuple(x), (1e3, 0.0, 0.0), P)[:4] == (C_MIN,) * 4
    x[10], x[11] = -1.0, 1.0  # front struts move alike
    rate = [
        SUSPENSION.outputs(0.0, tuple(x), (0.0,) * 8, (0.0,) * 8, P)[
            [q.name for q in SUSPENSION.measurements].index(f"stroke_rate_{n}")
        ]
        for n in ("i", "ii")
    ]
    assert rate[0] == pytest.approx(rate[1])
    for command in (150.0, -150.0, 1e5, -1e5):
        found = allocation(1500.0)(0.0, tuple(x), (command, 0.0, 0.0), P)
        assert found[0] == pytest.approx(np.clip(1500.0 + command / rate[0], C_MIN, C_MAX))


def test_modified_sky_hook_is_sky_hook_and_a_passive_damper():
    """Without its sky-hook part a passive damper; without its base the sky-hook with nothing else."""
    law = {one.name: one.allocate for one in SUSPENSION.rivals}
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = tuple(np.array(REST) + rng.normal(0.0, 0.05, 14) * np.repeat((0.2, 5.0), 7))
        assert law["modified_sky_hook"](0.0, x, (0.0, 0.0, 1500.0), P)[:4] == pytest.approx((1500.0,) * 4)
        both = law["modified_sky_hook"](0.0, x, (4e3, 3e3, 0.0), P)
        assert both == pytest.approx(law["sky_hook"](0.0, x, (4e3, 3e3, C_MIN), P))


def test_estimate_of_acceleration_driven_damping_matters():
    """Its third constant is the damping in the estimated acceleration: large, it follows the strut's rate alone."""
    (law,) = (one for one in rivals.RIVALS if one.name == "acceleration_driven")
    rng = np.random.default_rng(1)
    changed = 0
    for _ in range(40):
        x = tuple(np.array(REST) + rng.normal(0.0, 0.05, 14) * np.repeat((0.2, 5.0), 7))
        little, much = (law.allocate(0.0, x, (4e3, 500.0, estimate), P)[:4] for estimate in (300.0, 8e3))
        assert set(little) | set(much) <= {4e3, 500.0}
        changed += little != much
    assert changed > 0


def test_measures_are_of_the_plant_s_own_tyres():
    """One-sided tyres count one-sided loads: variants do not share their measures' blocks."""
    x, w = list(REST), (-0.5,) * 4 + (0.0,) * 4  # the road is far below: two-sided tyres pull
    for plant, expected in ((SUSPENSION, "pulls"), (suspension(unilateral=True), "free")):
        (measure,) = (one for one in plant.measures if one.name == "tyre_load_variation")
        value = measure.value(measure.updated(0.0, tuple(x), (3e3,) * 4 + (0.0,) * 4, w, P, (0.0,) * 4, 1.0), 1.0)
        assert (value > 5.0) == (expected == "pulls")
        if expected == "free":
            assert value == pytest.approx(1.0)  # no load at all, all the time


def test_time_beyond_the_stroke_limit_counts_any_strut():
    """Struts move by some 0.26 m a radian of their arm: 0.3 rad stay within 0.08 m, 0.33 rad do not."""
    (measure,) = (one for one in SUSPENSION.measures if one.name == "stroke_beyond")
    for turned, expected in ((0.0, 0.0), (0.3, 0.0), (0.33, 0.001)):
        for arm in range(3, 7):
            x = list(REST)
            x[arm] += turned if arm % 2 else -turned  # upwards on either side
            found = measure.updated(0.0, tuple(x), (3e3,) * 4 + (0.0,) * 4, (0.0,) * 8, P, (0.0,), 0.001)
            assert found == (expected,), (turned, arm)


@pytest.mark.parametrize("base", [0.0, 1500.0])
@pytest.mark.parametrize("force", [-400.0, -3.0, 0.0, 3.0, 400.0])
def test_a_setting_that_jumps_near_a_still_strut_moves_no_force(force, base):
    """Setting times rate over the rate: continuous but for the ends of the still zone, 7.7 N at most by the limits.

    Between two rates of the grid the force moves by no more than the largest slope, 8000 N s/m, times 1e-6 m/s; a wheel
    carries 3.9 kN.
    """
    rates = np.arange(-0.02, 0.02, 1e-6)
    settings = np.array([_setting(force, rate, base) for rate in rates])
    jumps = np.abs(np.diff(settings * rates))
    assert jumps.max() <= 7.7 + 0.009
    if abs(force) > C_MAX * STILL:
        assert np.abs(np.diff(settings)).max() > 1000.0  # the setting itself does jump
