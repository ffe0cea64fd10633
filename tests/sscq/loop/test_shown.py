"""What a notebook and a prompt show of plants and qualities."""

from dataclasses import replace

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants.core.presentation import html_table


@pytest.fixture(scope="module")
def quality():
    up = sscq.Situation(name="up <b>", reference=1.0, t_end=1.0)
    return sscq.evaluate(plants.get("fopdt"), controllers.PID(), [[1.0, 0.5, 0.0], [1e9, 0.0, 0.0]], [up])


def test_a_plant_is_short_at_the_prompt_and_whole_in_a_notebook():
    plant = plants.get("two_tanks")
    assert repr(plant) == "<Plant two_tanks: 2 states, 1 channel>"
    page = plant._repr_html_()
    for quantity in (*plant.states, *plant.parameters, *plant.inputs, *plant.disturbances):
        assert f"<td>{quantity.name}</td>" in page
    assert "<script>" not in replace(plant, text="<script>")._repr_html_()


def test_a_quality_completes_its_measures_and_is_a_table(quality):
    assert {"iae", "effort", "situations"} <= set(dir(quality))
    assert repr(quality).startswith("<Quality of 2 candidates in 1 situations: ")
    head, rows = quality.rows()
    assert head[:2] == ("situation", "candidate")
    assert len(rows) == 2
    assert rows[0][head.index("iae")] == quality.iae[0, 0]
    assert "up &lt;b&gt;" in quality._repr_html_()


def test_a_quality_becomes_a_table_of_pandas(quality):
    pandas = pytest.importorskip("pandas")
    found = quality.to_pandas()
    assert isinstance(found, pandas.DataFrame)
    np.testing.assert_array_equal(found["iae"], quality.iae[0])


def test_text_in_a_table_is_no_markup():
    assert html_table(("a<",), [("<i>", 1.23456)]).count("<i>") == 0
