"""Pictures of a knowledge base: which rules speak along a course of its inputs."""

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
