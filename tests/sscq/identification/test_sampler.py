"""The sampler against densities whose moments are known, and its own promises: seeds, rows by themselves, two modes."""

from __future__ import annotations

import numpy as np
import pytest

from sscq.identification.sampler import MEMBERS, sampled, spread_ratio

CORRELATED = np.array([[4.0, 1.8, 0.0], [1.8, 1.0, 0.0], [0.0, 0.0, 0.01]])


def wide(n, rng):
    return rng.uniform(-10.0, 10.0, (n, 3))


def gaussian(places):
    inverse = np.linalg.inv(CORRELATED)
    return -0.5 * np.einsum("ni,ij,nj->n", places - 1.0, inverse, places - 1.0)


def test_a_correlated_normal_density():
    """Mean within five standard errors of some hundred independent draws, covariance within a fifth."""
    found = sampled(gaussian, wide, (0, 1, 2), seed=0)
    assert found.agreed
    assert found.members.shape == (MEMBERS, 3)
    assert 0.1 < found.accepted < 0.6
    deviations = np.sqrt(np.diag(CORRELATED))
    assert np.abs(found.members.mean(axis=0) - 1.0) == pytest.approx(0.0, abs=5.0 * deviations.max() / np.sqrt(300.0))
    scaled = np.cov(found.members.T) / np.outer(deviations, deviations)
    assert scaled == pytest.approx(CORRELATED / np.outer(deviations, deviations), abs=0.2)
    assert found.log_density == pytest.approx(gaussian(found.members), rel=1e-12)


def test_bounds_are_kept_and_filled():
    """Uniform between 0 and 1, nothing outside: mean, variance and both ends."""

    def box(places):
        inside = ((places >= 0.0) & (places <= 1.0)).all(axis=1)
        return np.where(inside, 0.0, -np.inf)

    found = sampled(box, lambda n, rng: rng.uniform(-1.0, 2.0, (n, 3)), (0, 1, 2), seed=1).members
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert found.mean(axis=0) == pytest.approx(0.5, abs=0.06)
    assert found.var(axis=0) == pytest.approx(1.0 / 12.0, rel=0.15)


def test_two_modes_are_both_found_with_their_weights():
    """Eight deviations apart, one to two: the moves by a whole difference go from one to the other."""

    def two(places):
        one, other = (-0.5 * ((places - m) ** 2).sum(axis=1) for m in (-4.0, 4.0))
        return np.logaddexp(one, other + np.log(2.0))

    found = sampled(two, wide, (0, 1, 2), seed=2)
    assert (found.members[:, 0] > 0.0).mean() == pytest.approx(2.0 / 3.0, abs=0.12)


def test_the_same_seed_is_the_same_and_another_is_not():
    one, same, other = (sampled(gaussian, wide, (0,), seed) for seed in (3, 3, 4))
    assert one.members.tobytes() == same.members.tobytes()
    assert one.members.tobytes() != other.members.tobytes()


def test_populations_that_disagree_are_told():
    """Equal spreads about means that are a deviation apart: R-hat is the root of 1 + 1/2."""
    rng = np.random.default_rng(0)
    chains = rng.standard_normal((500, 2, 48, 1))
    assert spread_ratio(chains) < 1.001
    chains[:, 1] += 1.0
    assert spread_ratio(chains) == pytest.approx(np.sqrt(1.5), abs=0.02)


def test_a_density_that_parts_the_populations_doubles_the_rounds():
    """Two walls of nothing keep each walker where it is: more rounds do not help, and that is said."""

    def parted(places):
        gap = np.abs(np.abs(places[:, 0]) - 50.0) < 1.0
        return np.where(gap, -0.5 * (places[:, 1:] ** 2).sum(axis=1), -np.inf)

    told = []
    found = sampled(
        parted, lambda n, rng: np.column_stack([np.where(rng.random(n) < 0.5, -50.0, 50.0), rng.standard_normal((n, 2))]),
        (0, 1, 2), seed=5, on_round=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    assert found.rounds in {600, 1200, 2400, 4800}
    assert told[0] == (1, 600)
