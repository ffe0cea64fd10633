"""Filling the run report: every number of the page is the run's, and the same run gives the same bytes."""

import csv
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from controllers import PID, Controller, GainTable, gain_names
from experiments import design
from experiments.report import outputs
from experiments.report import recorded as stages
from experiments.report.builders import (
    estimates,
    learning,
    recording,
    report_data,
    results,
)
from experiments.report.drawing.numbers import number, percent, share
from experiments.report.records.results import NotAvailable, Response
from experiments.report.sections import rules
from experiments.report.sections.learning import sentences
from experiments.runtime import formats
from experiments.runtime.run_folder import RunFolder
from flcs.knowledge_base.activation import activation
from sscq.baselines.tuned import Tuned
from sscq.search.history import GenerationHistory
from sscq.teaching.teaching_signal import TeachingSignal
from sscq.verdict.comparison import Sample, compare
from tests.experiments import finished_run
from tests.experiments.report.reading import words as words_of


@pytest.fixture(scope="module")
def recorded(run, place):
    return formats.read_npz(place / "stages" / "responses" / "responses.npz")


@pytest.fixture(scope="module")
def page(run, place):
    return (place / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def metrics(run):
    return outputs.metrics(run.bench, run.reference, run.group, run.judgement, run.refined)


# ------------------------------------------------------------------------------------------------------------ the page


def test_a_resumed_run_gives_the_same_bytes(run, place, page):
    responses = place / "stages" / "responses" / "responses.npz"
    before = responses.stat().st_mtime_ns
    (place / "report.html").unlink()
    with RunFolder.resume(place, command="design") as folder:
        finished_run.written(folder)
    assert (place / "report.html").read_text(encoding="utf-8") == page
    assert responses.stat().st_mtime_ns == before  # read back, not simulated again


def test_nothing_of_this_session_is_in_the_page(page, place):
    assert str(place) not in page
    assert str(place.parent) not in page
    assert not re.search(r"\b20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", page)


def test_first_screen_is_the_verdict_and_the_metrics(run, page, metrics):
    text = words_of(page)
    first = text[: text.index("Conditions of the verdict Every")]
    name = run.judgement.verdict.recommended
    assert f"Recommend: {metrics['controllers'][name]['title']}" in first
    judged = "knowledge_base" if name == "fixed" else name
    change = metrics["comparisons"][judged].mean
    for value in (change.value, change.low, change.high):
        assert percent(value).replace("\u00a0", " ") in first.replace("\u00a0", " ")
    of = metrics["controllers"][name]
    travel = of["measures"]["unforeseen"]["total_variation"]
    for value in (of["max_sensitivity"][0], of["delay_margin"][0], travel):
        assert number(value, 3) in first
    for value in metrics["controllers"]["fixed"]["theta"]:
        assert number(value) in first
    assert "your present gains" in first
    passing = metrics["controllers"]["knowledge_base"]["max_transient_sensitivity"]
    assert passing == [one.sensitivity.value for one in run.judgement.passing["knowledge_base"]]
    assert metrics["controllers"]["fixed"]["max_transient_sensitivity"] == []
    assert number(passing[0], 3) in text


def test_costs_are_those_of_the_metrics(data, metrics):
    for controller in data.controllers:
        wanted = metrics["controllers"][controller.key]
        for kind, estimate in controller.cost.items():
            assert estimate.value == pytest.approx(wanted["fitness"][kind], rel=1e-12)  # the same mean
        for kind in ("taught", "validation", "unforeseen"):
            names = [s.name for s in data.group(kind)]
            travel = np.mean([controller.result(n).measure("total_variation") for n in names])
            assert travel == pytest.approx(wanted["measures"][kind]["total_variation"], rel=1e-12)


def test_csv_holds_what_the_page_shows(data, place):
    with (place / "situations.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(data.situations) * len(data.controllers)
    (row,) = (r for r in rows if (r["situation"], r["controller"]) == ("far", "fixed"))
    result = data.controller("fixed").result("far")
    assert float(row["cost"]) == result.cost.value
    assert float(row["iae"]) == result.measure("iae")
    assert int(row["seeds"]) == finished_run.SEEDS


# --------------------------------------------------------------------------------------------------------- recordings


@pytest.mark.parametrize("name", ["open_loop", "own", "fixed", "knowledge_base", "knowledge_base_free", "oracle"])
def test_the_recorded_response_is_the_judged_one(run, data, name):
    step = run.bench.setup.step
    for place in run.case.places:
        response = data.controller(name).result(place.label).response
        assert isinstance(response, Response)
        error = np.abs(response.reference - response.output)[:-1, 0]
        judged = run.case.measure(name, place.kind, "iae")[0, place.number]
        # The measures are left sums; the record is kept in single precision (7 digits).
        assert step * error.sum() == pytest.approx(judged, rel=1e-5)
        ends = response.entropies[-1]
        wanted = [run.case.measure(name, place.kind, f"entropy_{w}")[0, place.number] for w in ("plant", "controller")]
        np.testing.assert_allclose(ends, wanted, rtol=1e-5, atol=1e-6)


def test_extremes_of_the_command_are_those_of_all_samples(run, data):
    for place in run.case.places:
        use = data.controller("fixed").result(place.label).actuator[0]
        peak = run.case.measure("fixed", place.kind, "peak_command")[:, place.number]
        assert max(abs(use.lowest), abs(use.highest)) == pytest.approx(peak[0], rel=1e-12)
        assert use.peak == peak.max()


@given(
    values=hnp.arrays(float, st.tuples(st.integers(1, 200), st.integers(1, 3)), elements=st.floats(-1e3, 1e3)),
    cut=st.integers(0, 200),
)
def test_thinning_keeps_the_extremes_and_the_end(values, cut):
    values[cut:] = np.nan  # as after a divergence
    kept = recording.extremes(list(values.T), most=10)
    assert (kept[0], kept[-1]) == (0, len(values) - 1)
    for column in values.T:
        known = column[np.isfinite(column)]
        if known.size:
            assert np.nanmin(column[kept]) == known.min()
            assert np.nanmax(column[kept]) == known.max()


def test_of_many_situations_the_costliest_are_recorded(run):
    n = recording.MOST + 8
    cost = np.arange(n, dtype=float)[None]
    places = tuple(SimpleNamespace(kind="taught", overall=k) for k in range(n))
    judgement = SimpleNamespace(fitness={("fixed", "taught"): cost})
    case = SimpleNamespace(places=places, judgement=judgement, verdict=SimpleNamespace(recommended="fixed"))
    chosen = recording.chosen(case)
    assert len(chosen) == recording.MOST
    assert chosen[:2] == [0, 1]
    assert {n - 1, n - 2} <= set(chosen)


def test_a_diverged_rollout_is_cut_and_has_no_means(run, recorded):
    case = finished_run.altered(run, "own", "unforeseen", 0, diverged_at=1.0)
    one = recording._of_contender(case, case.contenders["own"], [p for p in case.places if p.label == "far"])
    (key,) = [name for name in one if name.endswith("output")]
    time, output = one[key.replace("output", "time")], one[key][:, 0]
    assert np.isfinite(output[time <= 1.0]).all()
    assert np.isnan(output[time > 1.01]).all()
    result = report_data(case, recorded).controller("own").result("far")
    assert result.failures == finished_run.SEEDS
    assert result.diverged_at == 1.0
    assert np.isnan(result.measure("iae"))


# ---------------------------------------------------------------------------------------------------------- estimates


def test_intervals_are_those_of_the_verdict():
    rng = np.random.default_rng(1)
    base = rng.uniform(1.0, 2.0, (20, 5))
    other = 0.9 * base + 0.1 * rng.standard_normal((20, 5))
    blank = np.zeros((20, 5))
    wanted = compare(Sample(other, blank + 1.0, blank > 0), Sample(base, blank + 1.0, blank > 0), seed=7).mean
    found = estimates.change(other, base, estimates.draws(20, 7))
    # The same draws; only the order of the sums differs.
    assert (found.value, found.low, found.high) == pytest.approx((wanted.value, wanted.low, wanted.high), rel=1e-9)
    mean = estimates.mean(base, estimates.draws(20, 7))
    assert mean.low < mean.value < mean.high


def test_without_chance_there_is_no_interval():
    same = np.tile([1.0, 2.0], (20, 1))
    rows = estimates.draws(20, 0)
    for found in (estimates.mean(same, rows), estimates.change(same, 2.0 * same, rows)):
        assert np.isnan([found.low, found.high]).all()
    assert estimates.change(same, 2.0 * same, rows).value == -0.5
    assert estimates.mean(same[:1], estimates.draws(1, 0)).value == 1.5
    assert np.isnan(estimates.change(same, 0.0 * same, rows).value)


# ---------------------------------------------------------------------------------------------------- gains and rules


def test_gains_of_fixed_two_degree_and_scheduled_controllers(run, data):
    fixed = data.controller("fixed").gains[0]
    assert (fixed.kp, fixed.ki, fixed.kd) == tuple(finished_run.FIXED)
    assert data.controller("open_loop").gains == NotAvailable("no control")
    assert "kp 5.00 … 9.00" in data.controller("oracle").gains.reason
    kb = data.controller("knowledge_base").gains[0]
    rules = [r.gains for r in run.refined["equal"].kb.channels[0].rules if r.on]
    assert (kb.kp, kb.ki, kb.kd) == tuple(finished_run.FIXED)
    np.testing.assert_allclose(kb.low, np.min([*rules, finished_run.FIXED], axis=0), rtol=1e-12)
    np.testing.assert_allclose(kb.high, np.max([*rules, finished_run.FIXED], axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("signal", "transform", "places"),
    [
        ("error", "magnitude", ("|e| = 0 m", "|e| = 1.5 m")),
        ("error_rate", "magnitude", ("|e'| = 0 m/s", "|e'| = 1.5 m/s")),
        ("position", "square", ("|position| = 0 m", "|position| = 1.225 m")),
    ],
)
def test_gain_tables_say_where_their_nodes_are(run, signal, transform, places):
    laws = (PID(),)
    schedule = GainTable(signal, (0.0, 1.0), transform, search_scale=True, gain_names=gain_names(laws))
    theta = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.5])
    (found,) = results.gains_of(run.case, Tuned("table", "gain table", "", Controller(laws, schedule), theta))
    assert (found.kp, found.ki, found.kd) == (1.0, 2.0, 3.0)
    assert found.at == f"{places[0]}; kp, ki, kd linear in between"
    (node,) = found.nodes
    assert (node.kp, node.ki, node.kd, node.at) == (4.0, 5.0, 6.0, f"{places[1]} and beyond")


def test_rules_are_the_refined_ones_with_their_shares_and_their_worth(run, data, page):
    known, kb = data.knowledge, run.refined["equal"].kb
    assert known.kb.channels == kb.channels
    shares = known.shares_of(0)
    assert (shares >= 0.0).all()
    assert shares.sum() <= 1.0 + 1e-9  # the reference gains have the rest
    part = words_of(page.split('id="rules"')[1].split("</section>")[0])
    assert "Rules (8)" in part  # the ninth is off
    for sentence in kb.sentences():
        assert (sentence in part) is not sentence.endswith("(off)")
    first = [number(value) for value in kb.channels[0].rules[0].gains]
    worth = percent(0.01).replace("\u00a0", " ")  # of the first rule, of the cost of all rules
    row = " ".join(["1 negative negative", *first, share(float(shares[0])).replace("\u00a0", " "), worth])
    assert row in part.replace("\u00a0", " ")


def test_gains_over_the_inputs_are_those_of_the_knowledge_base(run):
    kb = run.refined["equal"].kb
    x, y = np.array([-0.7, 0.2]), np.array([1.1, -2.0])
    np.testing.assert_allclose(rules.gains_over(kb, 0, x, y), kb.gains(np.stack([x, y], axis=1)), rtol=1e-12)


def test_the_way_to_fewer_rules_is_the_refinements(run, data, page):
    curve = run.refined["equal"].curve
    assert data.knowledge.curve == curve
    assert "8 rules of 9 at +0.3 % (validation +0.4 %); allowed 0.5 %" in words_of(page)
    assert sentences(run.refined)[1] == f"knowledge base, free actuator travel: {curve.sentence()}"


def test_the_rules_at_one_moment_are_those_of_the_knowledge_base(run, data, page):
    known, kb = data.knowledge, run.refined["equal"].kb
    assert known.place == "far"  # the first unforeseen situation
    found = activation(kb, known.moment[1:].tolist())
    text = words_of(page)
    assert f"At t = {number(known.moment[0], 3)} s in “far”, where the rules have most to settle" in text
    for said in found.conclusions:
        assert f"{said.gain} : mean {number(said.mean)}, gain {number(said.value)}" in text
    strongest = found.rules[int(np.argmax(found.firing))]
    assert re.search(rf"firing strength {strongest + 1} \w+ \w+ {re.escape(number(found.firing.max(), 3))}", text)


def test_the_busiest_moment_is_where_the_second_rule_fires_most(run):
    kb = run.refined["equal"].kb
    centres = [v.centres for v in kb.channels[0].inputs]
    alone = [c[1] for c in centres]
    between = [0.5 * (centres[0][0] + centres[0][1]), centres[1][1]]
    x = np.array([alone, between, alone])
    moment = recording.busiest(kb, np.array([0.0, 1.0, 2.0]), x, kb.firing(x))
    np.testing.assert_array_equal(moment, [1.0, *between])
    one = kb.with_channel(0, kb.channels[0].switched([r.terms == (1, 1) for r in kb.channels[0].rules]))
    x = np.array([between, alone, between])
    moment = recording.busiest(one, np.array([0.0, 1.0, 2.0]), x, one.firing(x))
    np.testing.assert_array_equal(moment, [1.0, *alone])  # a single rule: where it fires most


def test_teaching_signal_and_what_was_learned(run, data):
    view = data.teaching
    assert view.labels == ("up", "down")
    np.testing.assert_array_equal(view.signal.weight, run.signal.weight)
    kb = run.case.contenders["imitation"].controller.kb
    np.testing.assert_allclose(view.learned, kb.gains(run.signal.inputs[:, :2]), rtol=1e-12)


def test_search_histories_count_their_evaluations_on(data):
    others = {"knowledge_base_free", "knowledge_base_direct"}
    fixed, *refined = (s for s in data.searches if s.controller not in others)
    assert fixed.name == "fixed PID: genetic algorithm, then CMA-ES"
    assert fixed.evaluations.tolist() == [10, 20, 30, 40, 50, 60]
    assert fixed.best.tolist() == [3.0, 2.0, 2.0, 1.9, 1.6, 1.5]
    # Two searches of one method began at two places.
    assert [s.name for s in refined] == [
        "knowledge base from the imitated rules: CMA-ES",
        "knowledge base from the reference gains: CMA-ES",
    ]
    assert {s.controller for s in refined} == {"knowledge_base"}


def test_searches_with_labels_are_named_by_them():
    """A small search and a fine one of two methods that begins with the same method."""
    history = GenerationHistory(*[np.arange(1.0, 4.0)] * 4)
    names = ["over e alone|CmaEs", "over z alone|CmaEs", "from the imitated rules|CmaEs",
             "from the reference gains|GeneticAlgorithm", "from the reference gains|CmaEs"]  # fmt: skip
    entry = Tuned("kb", "knowledge base", histories=tuple((name, history) for name in names))
    found = stages.of_entry(entry, "knowledge_base")
    assert [one.name for one in found] == [
        "knowledge base, over e alone: CMA-ES",
        "knowledge base, over z alone: CMA-ES",
        "knowledge base from the imitated rules: CMA-ES",
        "knowledge base from the reference gains: genetic algorithm, then CMA-ES",
    ]
    assert found[-1].evaluations.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_provenance_repeats_the_run(data):
    found = data.provenance
    assert found.command == "sscq design plant=van_der_pol 'controller.own_gains=[2,0.5,1]'"
    assert found.config == "plant: van_der_pol\nseed: 0\n"
    names = [name for name, _ in found.files]
    assert {"config.json", "versions.json", "stages/"} <= set(names)
    assert "numpy" in dict(found.versions)


@pytest.mark.slow
def test_a_whole_design_reports_and_resumes_to_the_same_bytes(tmp_path, monkeypatch):
    # A commit while the test runs would be told in the report: the versions stand still here.
    monkeypatch.setattr("experiments.runtime.run_folder.versions", lambda: {"sscq": "0", "python": "3"})
    out = tmp_path / "run"
    tiny = [
        "plant=van_der_pol", "budget=small", "budget.evaluations=60", "network.inputs=[e,e_rate]", "budget.verdict_seeds=3", "teacher.window=2",
        "teacher.horizon=4", "quiet=true",
    ]  # fmt: skip
    design.main([*tiny, f"output={out}"])
    first = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    design.main([f"resume={out}", "quiet=true"])
    assert (out / "report.html").read_bytes() == first
    found, text = formats.read_json(out / "metrics.json"), words_of(first.decode())
    for controller in found["controllers"].values():
        assert controller["title"] in text
        for kind in ("taught", "validation", "unforeseen"):
            assert number(controller["fitness"][kind]) in text


def test_rounds_of_teaching_are_told_apart(run):
    """Two rounds of the same rows: twice the tracks, the second ones named by their round, and a word of it."""
    once = learning.teaching(run.case)
    signal = TeachingSignal.of_rounds([run.signal, run.signal])
    twice = learning.teaching(replace(run.case, signal=signal))
    assert twice.labels == (*once.labels, *(f"{label}, round 2" for label in once.labels))
    assert (once.round, twice.round) == (1, 2)
    assert "2 rounds, after the first one along the runs of the knowledge base" in twice.text
    assert "rounds" not in once.text
