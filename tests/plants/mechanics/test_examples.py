"""The worked examples of the documentation do what it says."""

import re
from pathlib import Path

import numpy as np
import pytest

import plants

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = DOCS / "examples"


@pytest.fixture
def example():
    """Load one example's plant."""
    return lambda name: plants.load_plant_file(EXAMPLES / f"{name}.py")[0]


@pytest.mark.parametrize("name", ["cart_and_pendulum", "rolling_disk", "crank_press"])
def test_they_keep_the_contract(example, name):
    report = plants.check(example(name))
    assert not report.problems
    assert any("energy balance closes" in line for line in report.passed)


def test_the_cart_is_the_one_of_the_text_books(example):
    plant = example("cart_and_pendulum")
    M, m, l, d = plant.nominal()
    x, u = (0.1, 0.8, -0.3, 1.2), (0.7,)
    s, c = np.sin(x[1]), np.cos(x[1])
    # (M + m) x'' + m l cos a'' - m l sin a'^2 = u - d x',  cos x'' + l a'' + g sin = 0
    along = u[0] - d * x[2] + m * l * s * x[3] ** 2 + m * 9.81 * s * c
    pushed = along / (M + m * s * s)
    wanted = (x[2], x[3], pushed, -(9.81 * s + c * pushed) / l)
    np.testing.assert_allclose(plant.derivative(0.0, x, u, (), plant.nominal()), wanted, rtol=1e-12)


def test_the_page_shows_the_examples_as_they_are():
    page = (DOCS / "guide" / "mechanics.md").read_text(encoding="utf-8")
    whole, part = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[:2]
    assert whole in (EXAMPLES / "cart_and_pendulum.py").read_text(encoding="utf-8")
    assert part in (EXAMPLES / "rolling_disk.py").read_text(encoding="utf-8")


def test_the_disk_rolls_as_the_page_prints(example):
    page = (DOCS / "guide" / "mechanics.md").read_text(encoding="utf-8")
    printed = re.search(r"after 5 s \[(.*?)\]", page, flags=re.DOTALL).group(1)
    plant = example("rolling_disk")
    end = plants.simulate(plant, t_end=5.0, step=0.001).states[-1]
    np.testing.assert_allclose(end, [float(value) for value in printed.split()], atol=1e-8)
    assert f"operations of one evaluation {plant.equations.operations}\n" in page


def test_the_press_feels_its_slider_where_the_crank_stands_across(example):
    plant = example("crank_press")
    inertias = [
        plant.mass_matrix(0.0, point.state, (0.0,), (0.0,), plant.nominal())[0][0] / _per_crank(plant, point.state) ** 2
        for point in plant.operating_points
    ]
    assert inertias == sorted(inertias)
    assert inertias[-1] > 5 * inertias[0]


def _per_crank(plant, state):
    """Crank rate for a quasi-velocity of 1."""
    return plant.kinematics(0.0, (*state[:3], 1.0), (0.0,), (0.0,), plant.nominal())[0]
