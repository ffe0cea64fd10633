"""Where fresh situations decide, all that is not folded away is about them, on the page as at the terminal."""

import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from configs.schema import DrawsConfig
from experiments.report import files
from experiments.report.answer import answer, at_limits, lasting_errors, named_situations, sources
from experiments.report.builders.results import judged_runs
from experiments.report.drawing.numbers import number, percent
from experiments.report.page import render
from experiments.report.records.gains import NO_ACTION, ChannelGains
from experiments.report.records.results import Estimate
from experiments.report.records.verdict import COMPARED_ONLY
from sscq.loop.quality import ALL_MEASURES
from tests.experiments import finished_run
from tests.experiments.report.reading import Reader, words

DRAWS = 12
SHOWN = {"iae": "IAE [m s]", "entropy_difference_abs": "entropy [J]", "total_variation": "travel [N]"}


class Unfolded(Reader):
    """What a reader sees who opens nothing: closed details give their summary alone."""

    def __init__(self):
        super().__init__()
        self.closed = []

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        if tag == "details" and "open" not in dict(attrs):
            self.closed.append(len(self.open))

    def handle_endtag(self, tag):
        if self.closed and len(self.open) == self.closed[-1]:
            self.closed.pop()
        super().handle_endtag(tag)

    def handle_data(self, data):
        if not self.closed or "summary" in self.open[self.closed[0] :]:
            super().handle_data(data)


def unfolded(page):
    reader = Unfolded()
    reader.feed(page)
    return re.sub(r"\s+", " ", " ".join(reader.text))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A run that fresh situations judge, its data, what it printed."""
    place, out = tmp_path_factory.mktemp("drawn") / "one", StringIO()
    draws = DrawsConfig(taught=0, validation=0, verdict=DRAWS)
    with redirect_stdout(out):
        run = finished_run.stored(place, finished_run.configuration(draws=draws))
    return run, files.load(place), out.getvalue()


def plain_spaces(text):
    return text.replace("\u00a0", " ")


def measure(run, name, what):
    return run.case.measure(name, "drawn", what)[0]


def test_nothing_that_is_not_folded_is_of_the_named_situations(drawn):
    run, data, _ = drawn
    assert run.judgement.judged == "drawn"
    text = unfolded(render(data))
    assert "The named situations, which the verdict does not rest on" in text
    assert "unforeseen" not in text
    assert not re.search(r"\b(far|louder)\b", text)  # their names
    assert "named unforeseen" in words(render(data))


def test_page_and_terminal_have_the_same_numbers_with_their_units(drawn):
    run, data, out = drawn
    table = unfolded(render(data)).partition("Ladder of baselines")[2]
    head, row = (next(line for line in out.splitlines() if line.startswith(name)) for name in ("controller ", "fixed"))
    for name, title in SHOWN.items():
        mean = float(measure(run, "fixed", name).mean())
        assert f" {number(mean)} " in table
        assert f" {mean:.4g} " in row
        assert title in head
        assert not np.isclose(mean, run.judgement.mean("fixed", "unforeseen", name))
    for title in ("IAE [m\u00a0s]", "∫|ΔṠ| dt [J]", "travel (TV of u) [N]", "effort ∫u² dt [N²\u00a0s]"):
        assert title in render(data)
    assert "(oracle), named situations" in out
    assert "oracle" not in table


def test_the_time_at_the_limits_is_that_of_the_fresh_situations(drawn):
    run, data, out = drawn
    key = data.verdict.recommended
    told = plain_spaces(at_limits(data.controller(key).judged))
    hit = int((measure(run, key, "saturated_time") > 0.0).sum())
    assert f"in {hit} of {DRAWS} runs" in told if hit else told == f"command never at a limit in {DRAWS} runs"
    assert told[:1].upper() + told[1:] in unfolded(render(data))
    assert f"{data.controller(key).name}: {told}" in out
    peak = number(float(measure(run, key, "peak_command").max()), 3)
    assert f"Largest |u| {peak} N" in unfolded(render(data))
    horizon = run.bench.setup.sets["drawn"][0].t_end
    found = judged_runs(finished_run.altered(run, key, "drawn", 0, saturated_time=0.5 * horizon), key)
    others = measure(run, key, "saturated_time")[1:] / horizon
    assert found.saturated == pytest.approx((0.5 + others.sum()) / DRAWS)
    assert (found.most_saturated, found.ever_saturated) == (0.5, 1 + (others > 0.0).sum())
    assert found.held_saturated == (others > 0.9).sum()
    held = judged_runs(finished_run.altered(run, key, "drawn", 0, saturated_time=0.95 * horizon), key)
    assert held.held_saturated == found.held_saturated + 1
    assert f"In {held.held_saturated} it is there for more than nine tenths" in at_limits(held)
    assert (
        at_limits(replace(found, saturated=0.5 / DRAWS, ever_saturated=1))
        == f"command at a limit 4.2\u00a0% of the time, in 1 of {DRAWS} runs; in any one at most 50.0\u00a0%"
    )


def test_losses_are_counted_for_every_measure(drawn):
    run, data, _ = drawn
    found, key = data.verdict.costliest, data.verdict.recommended
    assert [one.measure for one in found.losses] == ["cost", "iae", "entropy_difference_abs", "total_variation"]
    for one in found.losses[1:]:
        change = measure(run, key, one.measure) / measure(run, found.against, one.measure) - 1.0
        assert (one.lost, one.of) == (int((change > 0.005).sum()), DRAWS)
        if one.lost:
            assert one.worst == pytest.approx(change.max())
            assert f"in {one.lost} of {DRAWS} (largest: {plain_spaces(percent(one.worst))} )" in unfolded(render(data))
    costs = run.judgement.fitness[key, "drawn"][0]
    assert found.cost == pytest.approx(costs.max())
    assert found.other_cost == pytest.approx(run.judgement.fitness[found.against, "drawn"][0][costs.argmax()])


def test_page_and_terminal_say_how_the_named_situations_go(drawn):
    """In one sentence, the only one on the first screen that is of them."""
    run, data, _ = drawn
    key, against = "knowledge_base", data.verdict.compared_with
    assert not named_situations(data) or data.verdict.recommended != against
    data = replace(data, verdict=replace(data.verdict, recommended=key))
    own, base = (run.judgement.fitness[name, "unforeseen"] for name in (key, against))
    change, names = own.mean(axis=0) / base.mean(axis=0) - 1.0, [s.name for s in run.bench.setup.sets["unforeseen"]]
    text = named_situations(data)
    assert (
        f"cost J {percent(own.mean() / base.mean() - 1.0)}, worse in {(change > 0.005).sum()} of {len(names)}" in text
    )
    assert unfolded(render(data)).count(plain_spaces(text)) == 1
    assert plain_spaces(text).replace("\N{MINUS SIGN}", "-") in answer(data, data.knowledge.kb)
    worse = [
        replace(r, change=replace(r.change, value=0.02 + 0.1 * (r.situation == names[-1])))
        for r in data.controller(key).results
    ]
    controllers = tuple(replace(c, results=tuple(worse)) if c.key == key else c for c in data.controllers)
    text = named_situations(replace(data, controllers=controllers))
    assert f"worse in {len(names)} of {len(names)} (largest loss: +12.0\u00a0%, {names[-1]})" in text
    beside = {one.controller for one in data.verdict.judgements if one.outcome.startswith(COMPARED_ONLY)}
    best = next(c for c in data.controllers if c.key not in {key, against, *beside})
    good = tuple(replace(r, cost=replace(r.cost, value=0.01)) for r in best.results)
    controllers = tuple(replace(c, results=good) if c is best else c for c in data.controllers)
    text = named_situations(replace(data, controllers=controllers))
    assert f"; best there: {best.name}, −99" in plain_spaces(text)


def test_the_parts_of_the_terms_add_up_to_the_change_of_the_cost(drawn):
    _, data, _ = drawn
    cost = next(c.change for c in data.verdict.measures if (c.measure, c.against) == ("cost", "fixed"))
    assert [name for name, _ in data.verdict.split] == ["iae", "entropy_difference_abs"]
    assert sum(part for _, part in data.verdict.split) == pytest.approx(cost.value, rel=1e-9)
    assert plain_spaces(sources(data)).rstrip(".") in unfolded(render(data))


@pytest.mark.parametrize(("low", "high", "told"), [(-0.1, -0.01, ""), (-0.1, 0.01, "not better"), (0.01, 0.1, "worse")])
def test_tracking_that_is_not_proven_better_is_said_to_be_so(drawn, low, high, told):
    _, data, _ = drawn
    change = Estimate(0.5 * (low + high), low, high)
    measures = tuple(replace(c, change=change) if c.measure == "iae" else c for c in data.verdict.measures)
    text = sources(replace(data, verdict=replace(data.verdict, measures=measures)))
    assert text.partition("Tracking (IAE) is ")[2].partition(".")[0] == told


def test_a_loop_that_is_lost_is_the_costliest_and_no_loss_of_a_measure(drawn):
    _, data, _ = drawn
    lost = replace(data.verdict.costliest, cost=float("inf"))
    page = unfolded(render(replace(data, verdict=replace(data.verdict, costliest=lost))))
    assert f"Costliest of {DRAWS} fresh situations: J ▲ loop lost" in page


def test_means_are_over_the_runs_that_survive(drawn):
    run, data, _ = drawn
    judged = data.controller("fixed").judged
    assert (judged.runs, judged.failures) == (DRAWS, 0)
    assert set(judged.measures) >= set(ALL_MEASURES)
    assert judged.measures["iae"] == pytest.approx(run.judgement.mean("fixed", "drawn", "iae"))
    assert data.controller("oracle").judged is None


# ------------------------------------------------------------------------------------------------------ what to type


@pytest.mark.parametrize(("ki", "integrates"), [(1e-7, False), (0.0, False), (-1e-7, False), (0.5, True), (-0.5, True)])
def test_next_to_no_integral_gain_is_none(ki, integrates):
    gains = ChannelGains(10.0, ki, 5.0, 0.01, horizon=20.0)
    assert gains.integrates is integrates
    assert np.isinf(gains.standard[1]) != integrates


def test_the_bound_is_a_hundredth_of_the_proportional_part():
    """Over the horizon T an error moves the integral by ki T: 1 % of kp there."""
    at = NO_ACTION * 10.0 / 20.0
    assert not ChannelGains(10.0, 0.99 * at, 0.0, horizon=20.0).integrates
    assert ChannelGains(10.0, 1.01 * at, 0.0, horizon=20.0).integrates
    assert ChannelGains(10.0, 1e-12, 0.0).integrates  # no horizon is known: only 0 is none
    assert ChannelGains(0.0, 1e-12, 0.0, horizon=20.0).integrates  # an integral controller


def test_a_schedule_integrates_where_any_of_its_gains_does():
    still = ChannelGains(10.0, 0.0, 0.0, horizon=20.0)
    assert not replace(still, nodes=(still,)).integrates
    assert replace(still, nodes=(replace(still, ki=1.0),)).integrates
    assert replace(still, low=(1.0, 0.0, 0.0), high=(20.0, 1.0, 0.0)).integrates


def test_next_to_no_derivative_time_is_none():
    assert ChannelGains(1.0, 1.0, 1e-5, 0.01, horizon=5.0).standard[2] == 0.0  # N = 0.001
    assert ChannelGains(1.0, 1.0, 1e-2, 0.01, horizon=5.0).standard[2:] == pytest.approx((0.01, 1.0))


def test_page_and_terminal_say_that_an_error_lasts(drawn):
    _, data, _ = drawn
    key = data.verdict.recommended
    of = data.controller(key)
    still = tuple(replace(g, ki=9.35e-07, low=None, high=None, nodes=()) for g in of.gains)
    controllers = tuple(replace(c, gains=still) if c.key == key else c for c in data.controllers)
    changed = replace(data, controllers=controllers)
    assert len(lasting_errors(changed)) == 1
    text = answer(changed, data.knowledge.kb)
    said = "no integral action (ki = 9.35e-07): a constant disturbance leaves a lasting error"
    assert f"{of.name}: {said}" in text
    row = next(line for line in text if "(recommended)" in line)
    assert re.search(r"\(recommended\)[^\n]*? none ", row)
    assert "no integral action (ki = 9.35·10⁻⁷): a constant disturbance leaves a lasting error" in words(
        render(changed)
    )
    assert "no integral action" not in words(render(data))


def test_points_of_a_schedule_that_hardly_integrate_are_told(drawn):
    _, data, _ = drawn
    key = data.verdict.recommended
    (gains,) = data.controller(key).gains
    usual = replace(gains, kp=2.0, ki=0.5, low=None, high=None, at="rate 0 m/s", horizon=20.0)
    for ki, told in ((0.0, True), (0.09, True), (0.11, False)):  # 2 / 0.09 s is longer than a run, 2 / 0.11 s is not
        given = (replace(usual, nodes=(replace(usual, ki=ki, at="rate 2 m/s; linear in between"),)),)
        controllers = tuple(replace(c, gains=given) if c.key == key else c for c in data.controllers)
        found = lasting_errors(replace(data, controllers=controllers))
        assert bool(found) == told
        assert (
            not told
            or "longest run (20.00 s), or infinite, at 1 of 2 points to type in (rate 2 m/s): where" in found[0]
        )


def test_a_long_schedule_folds_and_a_short_one_does_not(drawn):
    _, data, _ = drawn
    chosen = replace(data, verdict=replace(data.verdict, recommended="knowledge_base"))
    page = render(chosen)
    assert "knowledge base: gains to type in at 9 points" in unfolded(page)
    assert "error rate" in unfolded(page).partition("What to type")[2].partition("Plant")[0]  # what is to be typed in
    kb = data.knowledge.kb  # without a rule gains bend between the centres: 25 points
    bent = replace(kb, channels=(replace(kb.channels[0], rules=kb.channels[0].rules[1:]),))
    page = render(replace(chosen, knowledge=replace(data.knowledge, kb=bent, shares=None)))
    assert "knowledge base: gains to type in at 25 points" in unfolded(page)
    assert "error rate" not in unfolded(page).partition("What to type")[2].partition("Plant")[0]
    assert words(page).count("error rate") > 25
    node = replace(data.controller("fixed").gains[0], at="|e| = 1.3 m and beyond")
    short = (replace(data.controller("fixed").gains[0], nodes=(node,)),)
    controllers = tuple(replace(c, gains=short) if c.key == "fixed" else c for c in data.controllers)
    assert "|e| = 1.3 m and beyond" in unfolded(render(replace(data, controllers=controllers)))
