"""Settings chosen together: the forces are the nearest ones, and the loops over the struts see what struts do."""

import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from plants.suspension import SUSPENSION, suspension
from plants.suspension.parameters import C_MAX, C_MIN
from plants.suspension.signals import REST, SIGNS, WEIGHTS, allocation, coordinated, nearest
from plants.suspension.tasks import SEED, SITUATIONS, drawn, with_struts

P = SUSPENSION.nominal()


def states(n, seed=0):
    rng = np.random.default_rng(seed)
    return [tuple(np.array(REST) + rng.normal(0.0, 0.05, 14) * np.repeat((0.2, 5.0), 7)) for _ in range(n)]


def cost(forces, wanted, weights):
    error = np.subtract(forces, wanted)
    return error @ error + sum(w * float(np.dot(signs, error)) ** 2 for w, signs in zip(weights, SIGNS, strict=True))


@pytest.mark.parametrize("weights", [WEIGHTS, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
def test_forces_are_the_nearest(weights):
    """Against SciPy's bounded least squares. Four rounds reach nearly all that there is to win over single struts."""
    rng, won = np.random.default_rng(1), []
    matrix = np.vstack([np.eye(4), np.sqrt(weights)[:, None] * np.array(SIGNS)])
    for _ in range(60):
        rates, wanted = rng.normal(0.0, 0.3, 4), rng.normal(0.0, 1500.0, 4)
        ends = np.sort([C_MIN * rates, C_MAX * rates], axis=0)
        best = cost(lsq_linear(matrix, matrix @ wanted, ends, tol=1e-12).x, wanted, weights)
        alone = cost(np.clip(wanted, *ends), wanted, weights)
        many, few = (cost(nearest(tuple(wanted), tuple(rates), weights, n), wanted, weights) for n in (200, 4))
        # SciPy stays inside its bounds by a hair, which costs it some 1e-6 of the squares.
        assert many == pytest.approx(best, rel=1e-4, abs=1.0)
        assert best * (1.0 - 1e-4) - 1.0 <= few <= alone * (1.0 + 1e-12)
        won.append((alone - few, alone - best))
    reached, possible = np.sum(won, axis=0)
    assert reached >= 0.9 * possible  # 0.99 and more are measured


def test_without_weights_each_strut_is_for_itself():
    """The same settings as the allocation beside a base, where struts move."""
    single, together = allocation(1500.0), coordinated(1500.0, (0.0, 0.0, 0.0))
    for x in states(20):
        commands = (800.0, -300.0, 200.0)
        found = together(0.0, x, (*commands, 0.0, 0.0, 0.0), P)
        assert found == pytest.approx(single(0.0, x, commands, P), rel=1e-9)


def test_loops_of_body_and_struts_ask_alike():
    """A command of the struts' heave pushes as one of the body's heave does; still struts stay at the base."""
    block = coordinated(1500.0)
    for x in states(5, seed=2):
        for k in range(3):
            body, struts = ([0.0] * 6 for _ in range(2))
            body[k] = struts[k + 3] = 500.0
            assert block(0.0, x, tuple(body), P) == block(0.0, x, tuple(struts), P)
    assert block(0.0, REST, (1e4,) * 6, P)[:4] == (1500.0,) * 4


def test_struts_modes_are_travel_of_the_body_over_its_wheels():
    """Body up by 1 cm on its wheels: a strut extends by its lever's share; rates are the slopes of the travels."""
    names = [q.name for q in SUSPENSION.measurements]

    def outputs(x):
        found = SUSPENSION.outputs(0.0, tuple(x), (3e3,) * 4 + (0.0,) * 4, (0.0,) * 8, P)
        return dict(zip(names, found, strict=True))

    for mode in ("heave", "pitch", "roll"):
        assert outputs(REST)[f"strut_{mode}"] == pytest.approx(0.0, abs=1e-12)
    for x in states(5, seed=3):
        one, step = outputs(x), 1e-6
        moved = outputs(np.array(x) + step * np.array((*x[7:], *(0.0,) * 7)))
        for mode in ("heave", "pitch", "roll"):
            slope = (moved[f"strut_{mode}"] - one[f"strut_{mode}"]) / step
            assert one[f"strut_{mode}_rate"] == pytest.approx(slope, rel=1e-3, abs=1e-4)
        extensions = [-one[f"stroke_{n}"] for n in ("i", "ii", "iii", "iv")]
        assert one["strut_heave"] == pytest.approx(np.mean(extensions))
        assert one["strut_pitch"] == pytest.approx(np.mean(extensions[2:]) / 2 - np.mean(extensions[:2]) / 2)
        assert one["strut_roll"] == pytest.approx(np.mean(extensions[::2]) / 2 - np.mean(extensions[1::2]) / 2)


def test_a_loaded_car_is_held_where_it_rests():
    """In every situation the errors of all six loops are 0 at the start, and nothing accelerates, to the rounding of 1e-9."""
    plant = suspension(unilateral=True, base=1500.0, together=True)
    names = [q.name for q in plant.measurements]
    seen = 0
    for one in itertools.chain(*with_struts(SITUATIONS).values()):
        if "initial" not in one:
            continue
        p = plant.values("parameters", one["parameters"])
        found = plant.outputs(0.0, one["initial"], (3e3,) * 4 + (0.0,) * 4, (0.0,) * 8, p)
        for channel in plant.channels:
            assert found[names.index(channel.output)] == pytest.approx(one["reference"][channel.output], abs=0.51e-9)
        moves = plant.derivative(0.0, one["initial"], (0.0,) * 8, (0.0,) * 8, p)
        assert np.abs(moves[7:]).max() < 3e-5  # 4 roundings on 1.9e5 N/m, arms of 0.38 m and 5.4 kg m^2
        seen += "kg" in one["name"]
    assert seen >= 5


def test_what_was_drawn_is_what_is_declared():
    """The same seed, the same cases, of all kinds; another seed, others."""
    cases = drawn(SEED)
    assert cases == drawn()
    assert drawn(SEED + 1) != cases
    assert len({one.name for one in cases}) == len(cases) >= 24
    assert {one.road_class for one in cases} == {"B", "C", "D"}
    assert {one.obstacle[2] for one in cases if one.obstacle} == {"both", "left", "right"}
    assert {one.obstacle[0] > 0.0 for one in cases if one.obstacle} == {True, False}
    for one in cases:
        assert 10.0 <= one.speed <= 35.0
        assert 0.5 <= one.dampers <= 1.0
        assert one.mass <= 300.0
        assert one.delay <= 0.015


def test_still_struts_keep_a_setting_that_dampers_have():
    """Without a base it is the least one, as in the allocation of single struts."""
    assert coordinated(0.0)(0.0, REST, (1e3,) * 6, P)[:4] == (C_MIN,) * 4


def test_active_struts_have_no_settings_to_choose():
    for more in ({"together": True}, {"base": 1500.0}):
        with pytest.raises(ValueError, match="active struts have no damper settings: leave out base and together"):
            suspension(active=True, **more)
