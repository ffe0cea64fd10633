"""The self-test of generators: right ones fail as often as it says, wrong ones fail.

Every generator is held against its claim for 100 seeds with a stated false-alarm rate of 10 % a seed. The number of
failures of a right generator is then at most binomial(100, 0.1), 10 expected: more than 22 come up once in 8 800, so
among the twelve generators once in 730 sets of seeds. Bonferroni's share is all but used up by statistics that are
nearly independent, so that too few failures tell of intervals that are too wide: where no bias widens them, fewer than 2
come up once in 3 100.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from plants.core.elementary import where
from plants.excitation import (
    PRBS,
    Constant,
    ExponentialFilter,
    GaussianFilter,
    PeakFilter,
    Recorded,
    TabulatedFilter,
    UniformPeakFilter,
    WhiteNoise,
)
from plants.excitation.density_filters import TabulatedLaw
from tests.reference.generators import GENERATORS, TABLE
from tests.reference.self_test.check import check_generator, check_seeds
from tests.reference.self_test.streams import Streams

SEEDS, RATE = range(100), 0.1
MOST, FEWEST = 22, 2


@pytest.mark.parametrize("name", GENERATORS)
def test_right_generators_fail_as_often_as_stated(name):
    part, step, streams = GENERATORS[name]
    claim = part.claim(step)
    tally = check_seeds(part, step, SEEDS, claim, RATE, streams=streams)
    assert tally.failures <= MOST, [report.failures for report in tally.reports if not report.passed]
    if claim.law is not None and claim.bias.kolmogorov == 0.0:
        assert tally.failures >= FEWEST


@pytest.mark.parametrize("name", ["uniform", "rayleigh", "tabulated"])
def test_the_bias_of_a_discretisation_is_what_its_claim_says(name):
    """Against many independent chains of the filter itself, behind its start; within 5 standard errors."""
    part, step, _ = GENERATORS[name]
    claim, chains = part.claim(step), 12_000
    streams = Streams(part, step, [("bias", 5, f"chain {k}") for k in range(chains)])
    *_, state = streams.run(round(4.0 / step))
    x = streams.value(state)
    mean, variance = (float(m) for m in claim.law.stats("mv"))
    error = chains**-0.5
    assert abs((x.mean() - mean) / variance**0.5 - claim.bias.mean) < 5.0 * error
    spread = ((x - x.mean()) ** 2 / variance).std()
    assert abs(x.var() / variance - 1.0 - claim.bias.variance) < 5.0 * error * spread
    # The method asks for less than 0.01, 0.02 for the correlation at 1 / a.
    assert claim.bias.kolmogorov < 0.01
    assert abs(claim.bias.correlation) < 0.02


@dataclass(frozen=True)
class ThreeValues(WhiteNoise):
    """0 and plus or minus sqrt(3): the first five moments of the Gaussian density."""

    density: str = "uniform"
    n_settings: ClassVar[int] = 1

    @staticmethod
    def advance(state, unit, settings):
        edge = 2.0 / 3.0 * 3.0**0.5  # the outer sixths of the uniform samples
        return where(unit - edge, 3.0**0.5, where(-edge - unit, -(3.0**0.5), 0.0))


GAUSSIAN = GaussianFilter(2.0, 1.0)
WRONG = {
    "mean": (ExponentialFilter(2.0, 1.0), ExponentialFilter(1.6, 1.0).claim(0.25), "mean"),
    "spectrum": (PeakFilter(2.0, 1.0, 0.2), PeakFilter(2.0, 1.0, 0.1).claim(0.125), "spectrum, band 3"),
    "density of equal mean, variance and correlation": (UniformPeakFilter(6.0**0.5, 1.0), PeakFilter(2.0, 1.0).claim(0.125), "kurtosis"),
    "density of five equal moments": (ThreeValues(1.0), WhiteNoise(1.0).claim(0.1), "Kolmogorov distance"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_generators_fail(name):
    part, claim, statistic = WRONG[name]
    step = {"PeakFilter": 0.125, "UniformPeakFilter": 0.125, "ThreeValues": 0.1}.get(type(part).__name__, 0.25)
    report = check_generator(part, step, seed=1, claim=claim)
    assert not report.passed
    assert statistic in report.failures
    assert "FAILED (a correct generator fails with 0.01)" in str(report)
    assert "<-- outside" in str(report)


def test_moments_alone_do_not_see_five_equal_ones():
    part, claim, _ = WRONG["density of five equal moments"]
    failures = check_generator(part, 0.1, seed=1, claim=claim).failures
    assert not {"mean", "variance", "skewness", "kurtosis"} & set(failures)


def test_what_cannot_be_tested_is_said():
    class Own(GaussianFilter):
        claim = Constant.claim

    with pytest.raises(ValueError, match="Own claims no law: say what law"):
        check_generator(Own(1.0, 1.0), 0.1)
    claim = GAUSSIAN.claim(0.1)
    assert check_generator(Own(2.0, 1.0), 0.1, claim=claim, streams=50).passed
    with pytest.raises(ValueError, match="Recorded draws no numbers"):
        check_generator(Recorded((0.0,), (1.0,)), 0.1, claim=claim)
    with pytest.raises(ValueError, match="false_alarm must lie between 0 and 1, got 1.0"):
        check_generator(GAUSSIAN, 0.1, false_alarm=1.0)


def test_prbs_streams_need_no_noise():
    values = Streams(PRBS(1.0, 0.1, 5), 0.1, [("a", 0, "x"), ("b", 0, "x")]).values(62)
    np.testing.assert_array_equal(values[:31], values[31:])


# ------------------------------------------------------------------------------------------------------ tabulated law


def test_a_tabulated_law_has_the_integrals_of_its_density():
    law = TABLE.law
    x = np.linspace(-1.0, 3.0, 400_001)
    p = law.pdf(x)
    assert np.trapezoid(p, x) == pytest.approx(1.0, abs=1e-9)
    mean, variance, skewness, kurtosis = law.stats("mvsk")
    assert mean == pytest.approx(np.trapezoid(x * p, x), abs=1e-9)
    moments = [np.trapezoid((x - mean) ** n * p, x) for n in (2, 3, 4)]
    assert variance == pytest.approx(moments[0], abs=1e-9)
    assert skewness == pytest.approx(moments[1] / moments[0] ** 1.5, abs=1e-8)
    assert kurtosis == pytest.approx(moments[2] / moments[0] ** 2 - 3.0, abs=1e-8)
    q = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_allclose(law.cdf(law.ppf(q)), q, atol=1e-12)
    # The diffusion that the Fokker-Planck-Kolmogorov equation asks for: (D^2 p / 2)' = -a (x - m) p.
    inner = x[1:-1:1000]
    flux = law.spread(inner) * law.pdf(inner)
    below = [-np.trapezoid((x[: k + 1] - mean) * p[: k + 1], x[: k + 1]) for k in range(1, len(x) - 1, 1000)]
    np.testing.assert_allclose(flux, below, atol=1e-8)


def test_a_uniform_table_is_the_uniform_filter():
    """D^2 / (2 a) = (width^2 - x^2) / 2."""
    x = np.linspace(-1.5, 1.5, 31)
    np.testing.assert_allclose(TabulatedLaw((-1.5, 1.5), (1.0, 1.0)).spread(x), 0.5 * (1.5**2 - x**2), atol=1e-12)


@pytest.mark.parametrize(
    ("nodes", "density", "told"),
    [
        ((0.0, 1.0), (1.0,), "as many values as nodes, at least two; got 1 values and 2 nodes"),
        ((0.0, 0.0), (1.0, 1.0), "nodes of a tabulated density must increase strictly"),
        ((0.0, 1.0, 2.0), (1.0, 0.0, 1.0), "a filter cannot cross a gap; got 0 as the smallest value"),
        ((0.0, 1.0), (1.0, float("nan")), "must be finite"),
        ((0.0, 1.0), (0.0, 0.0), "must be positive"),
    ],
)
def test_tables_that_are_no_density_are_refused(nodes, density, told):
    with pytest.raises(ValueError, match=told):
        TabulatedFilter(nodes, density, 1.0)
