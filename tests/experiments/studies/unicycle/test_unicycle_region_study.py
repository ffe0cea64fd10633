"""The comparison of the unicycle's regions: its declaration, its task, and its tables on verdicts that are known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments.studies.unicycle.comparison import PushOutcomes, UnicycleRegionStudy, best_constant, rides_of
from plants.unicycle import UNICYCLE_REGION
from plants.unicycle.tasks import BETWEEN, HIGHEST_PUSH, LARGEST_PUSH, LOWEST_PUSH, NUMBER_OF_PUSHES, SPEEDS, pushes

STUDY = UnicycleRegionStudy()
DECLARED = STUDY.declaration()
NAMES = ("fixed", "own", "lqr", "knowledge_base_lqr")
SIZES = np.random.default_rng(0).uniform(80.0, 120.0, (64, 24))


def verdict(scales=(1.0, 1.1, 1.0, 1.0)):
    """Regions that are the fixed one's, scaled; all stand in all of 100 situations."""
    titles = {name: name for name in NAMES}
    stood = {name: np.ones(100, dtype=bool) for name in NAMES}
    quality = {name: {m: np.full(100, 1.0) for m in STUDY.head["measures"]} for name in NAMES}
    sizes = {name: scale * SIZES for name, scale in zip(NAMES, scales, strict=True)}
    return PushOutcomes("design-0", titles, stood, quality, sizes, SIZES)


@pytest.mark.parametrize(("scale", "said"), [(1.1 * 1.2, "**met**"), (1.1 * 1.05, "**not met**"), (1.0, "**not met**")])
def test_the_aim_is_asked_against_the_largest_region_of_any_fixed_gains(scale, said):
    """The present gains' is 1.21 times the fixed PID's."""
    (line,) = STUDY.aims([verdict((1.0, 1.1, 1.0, scale))], DECLARED)
    assert said in line
    assert f"{100 * ((scale / 1.1) ** 2 - 1):+.1f} %" in line
    assert "up to 600 N of own" in line


def test_the_aim_is_not_reliable_where_the_interval_reaches_below():
    """A quarter of the rides alone gains: the mean is +24 %, resampled means are not."""
    one = verdict((1.0, 1.0, 1.0, 1.0))
    sizes = np.where(np.arange(64)[:, None] < 16, 1.4 * SIZES, SIZES)
    (line,) = STUDY.aims([replace(one, sizes=one.sizes | {"knowledge_base_lqr": sizes})], DECLARED)
    assert "met on the mean, not reliably" in line


def test_who_is_best_may_be_another_one_within_a_smaller_disc():
    """One is far ahead in one direction, the other a little in all."""
    one = verdict((1.0, 1.0, 1.0, 1.0))
    sizes = np.full((64, 24), 50.0)
    far = np.where(np.arange(24) == 0, 500.0, 40.0)
    one = replace(one, sizes={"fixed": sizes, "lqr": np.tile(far, (64, 1))})
    assert best_constant(one) == "lqr"
    assert best_constant(one, 60.0) == "fixed"
    (line,) = (row for row in STUDY.regions(one, 600.0, 60.0) if row.startswith("| fixed"))
    cells = [cell.strip().split(" [")[0] for cell in line.split("|")[3:8:2]]
    assert cells == ["-79.1 %", "-60.6 %", "the best"]  # 24 * 50^2 against 500^2 and 340^2 and 23 * 40^2


def test_the_conclusion_names_the_largest_region():
    """And what the knowledge base has where that is another one."""
    assert "knowledge_base_lqr, +44.0 %" in STUDY.conclusion([verdict((1.0, 1.0, 1.0, 1.2))])
    told = STUDY.conclusion([verdict((1.0, 1.0, 1.2, 1.0))])
    assert "lqr, +0.0 % against the best fixed gains (knowledge_base_lqr: -30.6 %)" in told


def test_the_declaration_fits_the_plant():
    """At least 200 situations, 64 rides."""
    assert DECLARED.own["drawn"]["number"] >= 200
    assert len(rides_of(DECLARED, own=True)) == 64
    assert all(ride.balanced for ride in rides_of(DECLARED, own=True))
    assert not any(ride.balanced for ride in rides_of(DECLARED))


def test_taught_pushes_are_even_in_size_and_fill_directions_heights_and_angles():
    """Sizes are in the middle of equal parts; each of the others, in order, is nowhere far from even."""
    several = pushes()
    assert [one.size for one in several] == pytest.approx(
        [LARGEST_PUSH * (k + 0.5) / NUMBER_OF_PUSHES for k in range(NUMBER_OF_PUSHES)]
    )
    shares = {
        "degrees": [one.degrees / 360.0 for one in several],
        "height": [(one.height - LOWEST_PUSH) / (HIGHEST_PUSH - LOWEST_PUSH) for one in several],
        "phase": [one.phase / (2.0 * math.pi) for one in several],
    }
    even = (np.arange(NUMBER_OF_PUSHES) + 0.5) / NUMBER_OF_PUSHES
    for name, share in shares.items():
        assert np.abs(np.sort(share) - even).max() < 3.0 / NUMBER_OF_PUSHES, name  # at random about 0.1
    for one in several:
        assert math.hypot(one.forward, one.left) == pytest.approx(one.size)


def test_small_pushes_are_taught_all_around_and_at_all_heights():
    """Up to 100 N, every quarter of the directions and both halves of the heights are there."""
    small = [one for one in pushes() if one.size < 100.0]
    assert {int(one.degrees // 90.0) for one in small} == {0, 1, 2, 3}
    assert {one.height < 0.4 for one in small} == {True, False}


def test_two_speeds_are_taught_and_another_one_validates():
    """As many pushes at each, and others: neither direction nor the wheel's angle comes twice."""
    several = UNICYCLE_REGION.situations
    asked = [one["reference"]["speed"] for one in several["taught"]]
    assert [asked.count(speed) for speed in SPEEDS] == [NUMBER_OF_PUSHES, NUMBER_OF_PUSHES]
    assert {one["reference"]["speed"] for one in several["validation"]} == {BETWEEN}
    every = [one for kind in ("taught", "validation") for one in several[kind]]
    assert len({one["initial"][3] for one in every}) == len({one["name"] for one in every}) == 3 * NUMBER_OF_PUSHES
