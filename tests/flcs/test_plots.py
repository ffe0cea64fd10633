"""Pictures of a knowledge base: which rules speak along a course of its inputs."""

from dataclasses import replace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_shares_of_the_rules_add_up_to_all_that_is_said(builders):
    kb = builders["kb"]()
    inputs = np.linspace([-1.0, 2.0], [1.0, -2.0], 40)
    axes = kb.plot_activation(inputs, np.linspace(0.0, 4.0, 40))
    shares = kb.shares(inputs, 0)
    heard = shares[:, shares.any(axis=0)]
    assert len(axes.collections) == heard.shape[1] == len(axes.get_legend().get_texts())
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in axes.collections]
    assert max(tops) == pytest.approx(heard.sum(axis=1).max())
    assert axes.get_xlabel() == "time [s]"
    matplotlib.pyplot.close("all")


def test_inputs_of_another_knowledge_base_are_refused(builders):
    with pytest.raises(ValueError, match="inputs must have the columns e, e_rate, got 3"):
        builders["kb"]().plot_activation(np.zeros((5, 3)))


def test_gains_that_stand_still_are_told_as_numbers(builders):
    kb = builders["kb"]()
    base = kb.channels[0]
    still = tuple(
        replace(rule, gains=tuple(np.array(base.reference) * (1.0 + 1e-13 * k))) for k, rule in enumerate(base.rules)
    )
    for drawn, flat in ((kb.with_channel(0, replace(base, rules=still)), True), (kb, False)):
        axes = drawn.plot()
        figure = axes[0, 0].figure
        figure.canvas.draw()
        bars = [chart for chart in figure.axes if chart not in axes.ravel().tolist()]
        told = [text.get_text() for chart in axes[1] for text in chart.texts]
        assert bool(bars) is not flat
        assert not flat or told == [
            f"{name} = {reference:.4g}\neverywhere"
            for name, reference in zip(base.gain_names, base.reference, strict=True)
        ]
        matplotlib.pyplot.close("all")


def test_bars_stand_beside_their_surfaces_and_legends_stay_in_the_picture(builders):
    axes = builders["kb"]().plot()
    figure = axes[0, 0].figure
    figure.canvas.draw()
    bars = [chart for chart in figure.axes if chart not in axes.ravel().tolist()]
    for surface, bar in zip(axes[1], bars, strict=False):
        assert 0.0 < bar.get_position().x0 - surface.get_position().x1 < 0.03
    shown = [chart.get_legend() for chart in axes[0] if chart.get_legend() is not None]
    assert shown
    assert all(legend.get_window_extent().y1 <= figure.bbox.y1 for legend in shown)
    matplotlib.pyplot.close("all")
