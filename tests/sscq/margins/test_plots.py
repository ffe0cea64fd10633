"""Nyquist curves come as close to -1 as the margins say; loops of several channels have none."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
GAINS = np.array([[1.0, 0.5, 0.1], [3.0, 1.5, 0.2]])


def test_a_curve_is_as_far_from_the_point_as_its_sensitivity_says():
    law = PID(sample_time=0.05)
    margins = OperatingMargins(
        plants.get("fopdt"), law, (sscq.Situation(),), 0.05, (0.0,) * 3, (10.0,) * 3, MarginLimits(1.8)
    )
    axes = margins.plot(GAINS, names=("slow", "fast"))
    curves = [line.get_xydata() for line in axes.get_lines() if len(line.get_xdata()) > 2]
    nearest = [np.hypot(curve[:, 0] + 1.0, curve[:, 1]).min() for curve in curves]
    (found,) = margins.margins(GAINS)
    # The grid is fine to about a part in a thousand; the margins interpolate between its points.
    np.testing.assert_allclose(1.0 / np.array(nearest), found.sensitivity[:, 0], rtol=2e-3)
    (circle,) = axes.patches
    corners = circle.get_xy()
    np.testing.assert_allclose(np.hypot(corners[:, 0] + 1.0, corners[:, 1]), 1.0 / 1.8, rtol=1e-9)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["slow", "fast", "Ms above 1.8"]
    matplotlib.pyplot.close("all")


def test_several_channels_are_refused():
    plant = plants.get("heater")
    n = 3 * len(plant.channels)
    laws = tuple(PID() for _ in plant.channels)
    margins = OperatingMargins(plant, laws, (sscq.Situation(),), plant.step, (0.0,) * n, (1.0,) * n, MarginLimits(1.8))
    with pytest.raises(ValueError, match="of plants with one channel"):
        margins.plot(np.ones(n))
