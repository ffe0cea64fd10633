"""Peers and pages of the benchmarks on formulations: what they compare is the same motion, what they say is computed."""

import math

import numpy as np
import pytest

from benchmarks.mechanics import derivation, formulations, formulations_page, lost_by_form
from benchmarks.mechanics.peers import AlgebraPeer, RollingDisk, Sympy
from benchmarks.runner import pages
from benchmarks.runner.pages import listed, span
from experiments.reproduce.mechanics import drift, mechanism_forms, mechanisms, systems
from experiments.reproduce.motions import OpenLoop
from experiments.runtime.timing import Timing
from plants.mechanics.algebra.blocks import blocks_of


def end(plant, name, steps):
    initial = np.array([mechanisms.start(name, plant)])
    return OpenLoop(plant, "solved", lanes=1).run(1, steps, 1e-3, initial)[0][0]


def test_every_form_starts_and_moves_alike():
    """100 ms: multipliers drift by less than 1e-10 in that time, Chaplygin's form meets no pole."""
    plants = mechanism_forms.forms("sleigh")
    wanted = end(plants[mechanism_forms.QUASI], "sleigh", 100)[:3]
    for plant in plants.values():
        np.testing.assert_allclose(end(plant, "sleigh", 100)[:3], wanted, atol=1e-9)


@pytest.mark.slow  # Numba compiles the peer
def test_lapack_peer_moves_as_the_kernel_does():
    plant = systems.sleigh().build("routh", check=False)
    initial = np.array(mechanisms.start("sleigh", plant))
    np.testing.assert_allclose(
        AlgebraPeer(plant).run(initial, 100, 1e-3), end(plant, "sleigh", 100), rtol=1e-12, atol=1e-13
    )


def test_a_form_that_moves_otherwise_is_refused():
    name, key = "sleigh", (mechanism_forms.QUASI, 1)
    ends = {key: np.zeros(5), (mechanism_forms.ROUTH, 1): np.full(6, 1e-5)}
    with pytest.raises(RuntimeError, match="sleigh.*Routh"):
        formulations.check(name, ends)
    ends[mechanism_forms.ROUTH, 1] = np.full(6, math.nan)
    with pytest.raises(RuntimeError, match="sleigh.*Routh"):
        formulations.check(name, ends)


def test_sympy_derives_the_same_blocks():
    plant = systems.sleigh().build("routh", check=False)
    declared = plant.equations.declared
    calculus = Sympy(declared)
    blocks = blocks_of(calculus, declared)
    q, v, u = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (0.7, 0.8)
    letters = {"q": q, "v": v, "u": u, "p": plant.nominal()}
    values = {calculus.symbol(f"{letter}{k}"): x for letter, xs in letters.items() for k, x in enumerate(xs)}
    wanted = plant.equations.full.at(0.0, q, v, u)
    load = [float(entry.subs(values)) for entry in blocks.load]
    curvature = [float(entry.subs(values)) for entry in blocks.constraints.curvature]
    np.testing.assert_allclose(load, wanted.load, rtol=1e-12)
    np.testing.assert_allclose(curvature, wanted.curvature, rtol=1e-12)


def test_kanes_disk_is_the_benchmark_systems():
    state = np.array([0.0, 0.2, 0.0, 0.0, 6.0 + 0.5 * math.sin(0.2), 0.5 * math.cos(0.2)])
    assert RollingDisk().rates(state)[3] == pytest.approx(6.6952307892, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "said"), [([1.0, 2.345], "1 to 2.3"), ([7.0, 7.01], "7"), ([639.0, 2008.0], "639 to 2,008")]
)
def test_ranges_in_words(values, said):
    assert span(values) == said


def test_lists_in_words():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(("value", "said"), [(0.0, "0"), (2.6, "3"), (1e-16, "1e-16"), (6e-6, "6e-6"), (13.0, "1e1")])
def test_small_numbers_in_one_digit(value, said):
    assert formulations_page.short(value) == said


def test_first_steps_that_take_too_long_are_called_missed():
    parts = {(state, "first"): [9.0] for state in derivation.AIMS}
    timing = Timing((1e-3,))
    derived = {"sleigh": dict.fromkeys(derivation.WAYS, timing)}
    rows = derivation.section_of(parts, derived, {"derivation": timing, "evaluation": timing}).rows
    assert [row.remark.endswith("MISSED") for row in rows[:2]] == [True, True]


def test_the_figure_draws_every_form_that_stayed():
    plant = mechanisms.SYSTEMS[lost_by_form.DRAWN]().build("quasi", check=False)
    run = drift.drift(lost_by_form.DRAWN, plant, 0.01, t_end=1.0)
    drawing = drift.figure({("one", 0.01): run, ("other", 0.01): None, ("coarse", 0.1): run}, 0.01)
    assert drawing.count(">one<") == 3
    assert "other" not in drawing
    assert "coarse" not in drawing


@pytest.mark.slow
def test_the_page_is_written(tmp_path):
    pages.run(
        "formulations_page", None, formulations_page.measured, formulations_page.write,
        ["--quick", "--folder", str(tmp_path)],
    )  # fmt: skip
    page = (tmp_path / "formulations.md").read_text()
    assert page.count("\n## ") == 5
    assert "nan" not in page
    assert (tmp_path / lost_by_form.FIGURE).read_text().startswith("<svg")
