"""The benchmarks' peers compute what the kernel computes, and the paths run. No figure is judged here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import c_peer, case, closed_loop, python_peers, report
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.timing import Timing, alternate, ratio

needs_gcc = pytest.mark.skipif(not c_peer.available(), reason="no gcc")


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    return c_peer.build(tmp_path_factory.mktemp("c"))[0]


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
