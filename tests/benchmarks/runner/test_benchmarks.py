"""The benchmarks' peers compute what the kernel computes, and the paths run. No figure is judged here."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.accuracy import loops, orders
from benchmarks.engine import case, closed_loop, context, inference_forms, jax_peer, lane_sizes, python_peers
from benchmarks.engine.case import chain
from benchmarks.runner import report
from benchmarks.runner.size import QUICK
from controllers import PID
from experiments.report.drawing import svg
from experiments.reproduce import motions
from experiments.reproduce.forming_filter import FILTER
from experiments.runtime.timing import Timing, alternate, ratio
from plants.core.motion.integrators import INTEGRATORS
from plants.core.motion.modes import check_mode
from plants.excitation import WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

needs_gcc = pytest.mark.skipif(not closed_loop.available(), reason="no gcc")


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    return closed_loop.build(tmp_path_factory.mktemp("c"))[0]


def test_loops_in_python_give_the_kernels_results():
    gains = case.gains(5)
    ours = case.table(case.closed_loop(200).evaluate(gains, 1))
    # The same formulas with other roundings; 1e-9 leaves room for 200 steps of a stable loop, no more.
    np.testing.assert_allclose(python_peers.numpy_loops(gains, 200), ours, rtol=1e-9)
    np.testing.assert_allclose(python_peers.deap_loops(gains, 200), ours, rtol=1e-9)


@needs_gcc
def test_loop_in_c_gives_the_kernels_results_also_where_rollouts_diverge(peer):
    assert closed_loop.agreement(peer, 200) <= 1e-9
    assert case.closed_loop(200, initial=(30.0, 0.0)).evaluate(case.gains(3), 1).failed.all()


@needs_gcc
def test_a_peer_that_computes_something_else_is_refused(peer, monkeypatch):
    monkeypatch.setattr(case, "REFERENCE", 1.4)
    given = case.closed_loop(50)
    monkeypatch.setattr(case, "closed_loop", lambda *_, **__: given)
    monkeypatch.setattr(case, "REFERENCE", 1.5)
    with pytest.raises(RuntimeError, match="differ from the kernel's"):
        closed_loop.agreement(peer, 50)


@needs_gcc
@pytest.mark.parametrize("initial", [case.INITIAL, (30.0, 0.0)])
def test_c_from_the_same_tape_gives_the_kernels_bits_also_where_rollouts_diverge(tmp_path, initial):
    loop, gains = case.closed_loop(300, initial=initial), case.gains(37)  # a rest that does not fill the lanes
    quality, theirs = loop.evaluate(gains, 1), lane_sizes.build(loop, tmp_path, 256).run(gains, 300)
    np.testing.assert_array_equal(theirs[:, 1:], case.table(quality))
    assert np.all(theirs[:, 0] == 300) == (not quality.failed.any())


@needs_gcc
def test_c_in_single_precision_is_near_and_not_the_same(tmp_path):
    loop, gains = case.closed_loop(300), case.gains(16)
    double, single = (lane_sizes.build(loop, tmp_path, 256, real).run(gains, 300) for real in ("double", "float"))
    # 300 steps of a stable loop in numbers of 24 bits (6e-8): 1e-4 leaves room for their growth, no more.
    np.testing.assert_allclose(single, double, rtol=1e-4)
    assert not np.array_equal(single, double)


def test_c_from_the_tape_refuses_what_is_python_text():
    noisy = ClosedLoop(case.PLANT, PID(), (Situation("noisy", 1.0, WhiteNoise(0.1)),), case.STEP, measures=("iae",))
    with pytest.raises(ValueError, match="lane loops only, got Uniform; leave out noise"):
        lane_sizes.text(noisy.design)
    with pytest.raises(ValueError, match="steps are all alike"):
        jax_peer.step_program(noisy)


def test_peers_with_other_results_are_refused():
    loop, gains = case.closed_loop(50), case.gains(3)
    with pytest.raises(RuntimeError, match="expected equal bits"):
        lane_sizes.check([loop.evaluate(gains, 1), loop.evaluate(gains[::-1], 1)], [], gains, 50)


def test_the_step_that_jax_takes_is_the_kernels():
    loop, (gains,) = case.closed_loop(100), case.gains(1)
    program, reads, stores = jax_peer.step_program(loop)
    rows, values = loop.design.rows, dict(enumerate(loop.start_rows(0)))
    values = {str(row): value for row, value in values.items()} | {"h": loop.step}
    values |= {str(rows.first["theta"] + k): gain for k, gain in enumerate(gains)}
    for k in range(100):
        values |= {"t": k * loop.step}
        values |= dict(zip(stores, program(*(values[name] for name in reads)), strict=True))
    ours = loop.evaluate(gains[None], 1)
    measured = [values[str(rows.first[f"q_{name}"])] for name in case.MEASURES]
    # The same operations without fused ones: 1e-12 is thousands of roundings in 100 steps of a stable loop.
    np.testing.assert_allclose(measured, case.table(ours)[0], rtol=1e-12)


def test_jax_gives_the_kernels_results():
    pytest.importorskip("jax")
    loop, gains = case.closed_loop(100), case.gains(16)
    theirs = np.asarray(jax_peer.compiled(loop, 100)(gains))[:, 1:]
    # Without JAX_ENABLE_X64, as here, it computes in single precision.
    np.testing.assert_allclose(theirs, case.table(loop.evaluate(gains, 1)), rtol=1e-4)


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_linear_chain_is_its_stiffness_matrix(n):
    plant, rng = chain(n, cubic=0.0), np.random.default_rng(n)
    matrix = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    matrix[-1, -1] = 1.0  # the free end
    q, v = rng.normal(size=(2, n))
    stiffness, _, damping = plant.nominal()
    rates = plant.derivative(0.0, (*q, *v), (0.7,), (), plant.nominal())
    wanted = -matrix @ (stiffness * q + damping * v) + np.eye(n)[-1] * 0.7
    # A few sums of numbers of order 10.
    np.testing.assert_allclose(rates, [*v, *wanted], rtol=1e-12, atol=1e-13)
    assert len(plant.states) == 2 * n


def test_posed_implicitly_van_der_pol_moves_as_it_does():
    implicit, plain = motions.IMPLICIT_VAN_DER_POL, case.PLANT
    x, u, w = np.random.default_rng(0).normal(size=(2, 50)), (0.3,), (0.1,)
    for gain in (0.0, 0.5, 0.9):
        ours = implicit.derivative(0.0, tuple(x), u, w, (1.2, gain))
        wanted = plain.derivative(0.0, tuple(x), u, w, (1.2,))[1]
        # The loop is solved by dividing by 1 + gain: a few roundings.
        np.testing.assert_allclose(ours[1], wanted, rtol=1e-12, atol=1e-13)
        (again,) = implicit.acceleration(0.0, tuple(x), (wanted,), u, w, (1.2, gain))
        np.testing.assert_allclose(again, wanted, rtol=1e-12, atol=1e-13)
        (moved,) = implicit.acceleration(0.0, tuple(x), (wanted + 1.0,), u, w, (1.2, gain))
        np.testing.assert_allclose(wanted - moved, gain, rtol=1e-12, atol=1e-12)


def test_all_ways_to_treat_a_loop_are_compared():
    assert {"solved", "iterated", "loop_free"} <= set(motions.modes())
    for plant in motions.OSCILLATORS:
        assert [check_mode(plant, mode) for mode in motions.modes()] == list(motions.modes())


def test_baselines_stand_beside_the_published_ratios():
    seconds = {"solved": 3.0, "iterated": 9.0, "loop_free": 2.0, "loop_free_filtered": 2.0}
    measured = {mode: Timing((value * 1e-9,)) for mode, value in seconds.items()}
    found = {("van_der_pol_implicit", "free"): measured, ("van_der_pol_implicit", "excited"): measured}
    times, ratios = loops.run_time_bars(found)
    assert times.groups["Van der Pol, free"] == pytest.approx(seconds)
    assert ratios.groups["Van der Pol, free"] == pytest.approx({"iterated / loop_free": 4.5, "published": 2.8})
    assert list(ratios.groups["Van der Pol, excited"]) == ["iterated / loop_free"]


def test_the_forming_filter_is_the_equation_of_its_source():
    q, v, a, xi = 0.1, -0.4, 2.0, 0.05
    (solved,) = FILTER.derivative(0.0, (q, v), (), (xi,), ())[1:]
    left = (0.01 + 0.2 * q**2) * solved + 0.5 * q**2 * v + 0.2 * q * v**2 + 0.2 * v + q
    assert left == pytest.approx(xi, rel=1e-12)  # a few roundings
    (explicit,) = FILTER.acceleration(0.0, (q, v), (a,), (), (xi,), ())
    assert explicit == pytest.approx(solved + (solved - a) * 0.2 * q**2 / 0.01, rel=1e-9)


def test_every_integrator_has_the_order_it_is_designed_for():
    assert set(orders.DESIGNED) == set(INTEGRATORS)
    section = orders.orders(QUICK)
    assert len(section.rows) == 3 * len(INTEGRATORS) + 1 + 2 * 3 + 4 * 3
    assert all("met" in row.remark for row in section.rows), section.rows
    wrong = orders.Order("euler", 2.0, np.ones(2), np.ones(2), 1.01)
    assert "designed for 2 within 0.15, MISSED" in wrong.remark


def test_python_controls_loop_is_ours():
    pytest.importorskip("control")
    ours = float(case.closed_loop(300).evaluate(case.gains(1), 1).iae[0, 0])
    # In continuous time, to the solver's tolerance: the sampled loop is half a step behind.
    assert context.control_iae(case.gains(1)[0], 300) == pytest.approx(ours, rel=0.02)


def test_figures_stand_alone_and_are_written_beside_the_table(tmp_path):
    curve = svg.SvgLine("a <b>", [1.0, 10.0, 100.0], [1e-3, 0.0, 1e-1], dots=True)
    chart = svg.Chart("title", "x", "y", (curve,), log_x=True, log_y=True)
    drawing = svg.figure([chart, svg.Bars("bars", "ns", {"one": {"p": 1.0, "q": 2.0}, "two": {"q": 3.0}})])
    root = ET.fromstring(drawing)
    assert len(root.findall(".//{*}circle")) == 2  # 0 has no place on a logarithmic axis
    assert len(root.findall(".//{*}rect[@fill='#1f5fa8']")) == 1
    section = report.FigureSection("some", "Some", figures={"some.svg": drawing})
    table = report.write([section], {}, tmp_path).read_text()
    assert (tmp_path / "some.svg").read_text() == drawing
    assert "![some](some.svg)" in table
    assert json.loads((tmp_path / "some.json").read_text())["figures"] == ["some.svg"]


def test_operations_are_those_of_the_printed_text():
    counts = case.operations(case.closed_loop())
    # Five selects at least: two limits, anti-windup, guard of two states; every measure has one more.
    assert counts["select"] >= 5 + len(case.MEASURES)
    assert counts["fused multiply-add"] > 0
    assert counts == case.operations(case.closed_loop(lanes=1))


def test_opponents_alternate_and_the_first_round_does_not_count():
    calls = []
    times = alternate({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b"] * 3
    assert [len(timing.seconds) for timing in times.values()] == [2, 2]


def test_ratio_is_of_the_best_and_of_the_rounds():
    assert ratio(Timing((2.0, 3.0, 9.0)), Timing((1.0, 1.0, 3.0))) == (2.0, 3.0)


def test_aims_are_judged():
    assert "met" in report.at_most((1.3, 2.0), 1.3)
    assert "MISSED" in report.at_most((1.31, 1.0), 1.3)
    assert "met" in report.at_least((8.0, 1.0), 8.0)
    assert "MISSED" in report.at_least((7.9, 9.0), 8.0)


def test_results_are_written_as_json_and_as_one_table(tmp_path):
    (section,) = main(["--quick", "--folder", str(tmp_path), "search_operators"])
    stored = json.loads((tmp_path / "search_operators.json").read_text())
    assert stored["counts"] == section.counts
    assert stored["machine"]["vectors"]
    table = (tmp_path / "table.md").read_text()
    assert all(row.what in table for row in section.rows)


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["milion"])
    assert "known: million" in capsys.readouterr().err


@pytest.mark.slow
def test_all_benchmarks_run(tmp_path):
    sections = main(["--quick", "--folder", str(tmp_path)])
    assert [section.name for section in sections] == list(BENCHMARKS)
    assert all(section.rows or section.notes for section in sections)


def test_scikit_fuzzy_gives_the_gains_of_the_same_rules(monkeypatch):
    kb = inference_forms.knowledge_base()
    inference_forms.check(kb)
    monkeypatch.setattr(inference_forms, "answer", lambda *_: [1.0, 1.0, 1.0])
    with pytest.raises(RuntimeError, match="scikit-fuzzy differs by"):
        inference_forms.check(kb)


def test_opponents_are_timed_by_the_watch_that_is_given():
    ticks = iter(range(100))
    times = alternate({"one": lambda: next(ticks), "other": lambda: None}, 2, lambda: float(next(ticks)))
    assert times == {"one": Timing((2.0, 2.0)), "other": Timing((1.0, 1.0))}
