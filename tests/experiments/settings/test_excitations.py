"""Excitations from a configuration: every kind builds its signal; what does not fit together is refused."""

import re
from pathlib import Path

import pytest

from configs import rules
from configs.schema import EXCITATIONS, ExcitationConfig
from experiments.settings.excitations import excitation
from plants.excitation import (
    PRBS,
    Chirp,
    ExponentialFilter,
    GammaFilter,
    GaussianFilter,
    NonlinearFilter,
    PeakFilter,
    Ramp,
    RayleighFilter,
    Recorded,
    Road,
    Sine,
    Step,
    TabulatedFilter,
    UniformFilter,
    UniformPeakFilter,
    WhiteNoise,
    as_signal,
)

NEEDED = {
    "chirp": {"stop_frequency": 5.0},
    "multisine": {"stop_frequency": 5.0, "amplitude": 1.0},
    "recorded": {"file": "series.csv"},
    "tabulated": {"file": "density.csv"},
}
KINDS = {
    "white": WhiteNoise, "numpy_white": Recorded, "gaussian": GaussianFilter, "uniform": UniformFilter,
    "rayleigh": RayleighFilter, "gamma": GammaFilter, "exponential": ExponentialFilter, "tabulated": TabulatedFilter,
    "peak": PeakFilter, "nonlinear": NonlinearFilter, "sine": Sine, "step": Step, "ramp": Ramp, "chirp": Chirp,
    "prbs": PRBS, "multisine": Sine, "road": Road, "recorded": Recorded,
}  # fmt: skip


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("series.csv").write_text("time,force,level\n0,1,5\n1,2,6\n")
    Path("density.csv").write_text("value,density\n-1,0.2\n0,1\n3,0\n")


def built(**given):
    config = ExcitationConfig(**given)
    rules.check(config)
    return excitation(config, seed=1, t_end=2.0)


@pytest.mark.parametrize("kind", EXCITATIONS)
def test_every_kind_builds_its_signal_with_its_defaults(kind):
    parts = as_signal(built(kind=kind, **NEEDED.get(kind, {}))).parts
    assert {type(part) for part in parts} == ({KINDS[kind]} if kind != "none" else set())


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "rayleigh", "gamma", "exponential", "peak"])
def test_the_variance_is_the_law_s(kind):
    part = built(kind=kind, variance=0.7)
    assert float(part.claim(0.1).law.stats("v")) == pytest.approx(0.7, rel=1e-12)
    assert isinstance(built(kind="peak", density="uniform", variance=3.0), UniformPeakFilter)
    assert built(kind="peak", density="uniform", variance=3.0).width == pytest.approx(3.0)


def test_skewed_noise_can_be_moved_to_a_mean():
    part, constant = built(kind="exponential", variance=0.25, mean=0.0).parts
    assert (part.rate, constant.level) == (2.0, -0.5)


def test_settings_reach_their_signals():
    assert built(kind="ramp", slope=2.0, at=1.0, until=3.0) == Ramp(2.0, 1.0, 3.0)
    assert built(kind="chirp", amplitude=2.0, frequency=0.5, stop_frequency=4.0, duration=8.0, sweep="exponential") == (
        Chirp(2.0, 0.5, 4.0, 8.0, "exponential")
    )
    assert built(kind="prbs", amplitude=2.0, hold=0.2, order=7) == PRBS(2.0, 0.2, 7)
    assert built(kind="road", road_class="D", speed=12.0) == Road("D", 12.0)
    series = built(kind="recorded", file="series.csv", column="level", interpolation="mean", gain=2.0)
    assert (series.values, series.interpolation, series.gain) == ((5.0, 6.0), "mean", 2.0)
    assert built(kind="recorded", file="series.csv", column="2").values == (5.0, 6.0)
    assert built(kind="tabulated", file="density.csv").density == (0.2, 1.0, 0.0)
    assert len(built(kind="multisine", amplitude=1.0, stop_frequency=5.0, sines=6).parts) == 6


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "raileigh"}, "got 'raileigh'; did you mean 'rayleigh'?"),
        ({"kind": "chirp"}, "stop_frequency is missing: kind=chirp runs from frequency to stop_frequency"),
        ({"kind": "multisine", "frequency": 5.0, "stop_frequency": 2.0}, "stop_frequency must be above frequency"),
        ({"kind": "prbs", "order": 8}, "got 8; the nearest is 7"),
        ({"kind": "ramp", "at": 2.0, "until": 1.0}, "until must be after at, got 1.0 s and 2.0 s"),
        ({"kind": "tabulated"}, "file is missing: a tabulated density needs file=density.csv"),
        ({"kind": "gamma", "variance": 0.0}, "variance must be above 0 with kind=gamma"),
        ({"kind": "sine", "mean": 1.0}, "mean is for kind=rayleigh, gamma, exponential, tabulated only, got kind=sine"),
        ({"kind": "road", "road_class": "F"}, "road_class must be one of A, B, C, D, E, got 'F'"),
        ({"kind": "recorded", "file": "x.csv", "interpolation": "liner"}, "did you mean 'linear'?"),
    ],
)
def test_what_does_not_fit_together_is_refused(given, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        built(**given)


def test_a_gap_in_a_density_file_is_told():
    Path("density.csv").write_text("0,1\n1,0\n2,1\n")
    with pytest.raises(ValueError, match="a filter cannot cross a gap"):
        built(kind="tabulated", file="density.csv")
    Path("density.csv").write_text("0,1\n0,1\n")
    with pytest.raises(
        ValueError, match="density.csv, line 2: .*the values must increase, but the line before is at 0"
    ):
        built(kind="tabulated", file="density.csv")
