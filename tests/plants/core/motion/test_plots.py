"""Pictures of trajectories: what is drawn, with names and units."""

import numpy as np
import pytest

import plants

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def run():
    return plants.simulate(plants.get("van_der_pol"), t_end=1.0, initial=(1.0, 0.0))


def test_signals_of_one_unit_share_a_chart(run):
    charts = run.plot()
    labels = [[line.get_label() for line in chart.lines] for chart in charts]
    assert [chart.get_ylabel() for chart in charts] == ["[m]", "[m/s]", "[N]"]
    assert labels[0] == ["position"]
    assert charts[-1].get_xlabel() == "time [s]"
    np.testing.assert_array_equal(charts[0].lines[0].get_ydata(), run["position"])


def test_chosen_signals_go_into_given_axes(run):
    _, axes = matplotlib.pyplot.subplots()
    (chart,) = run.plot(["velocity"], axes)
    assert chart is axes
    with pytest.raises(KeyError, match="velocity"):
        run.plot(["velocitty"])


def test_a_phase_portrait_marks_its_start(run):
    axes = run.plot_phase("position", "velocity")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position [m]", "velocity [m/s]")
    assert axes.lines[1].get_xdata()[0] == run["position"][0]
