"""The run report as a page: what it says, that it is whole, and that nothing foreign gets in."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from experiments.report.drawing.numbers import judged, number, percent
from experiments.report.page import render
from experiments.report.records.gains import ChannelGains, MarginPoint, PointMargins
from experiments.report.records.learning import Knowledge, SearchHistory
from experiments.report.records.report_data import Evidence, PlantText, Provenance, ReportWarning
from experiments.report.records.results import (
    ChannelView,
    ControllerResult,
    Estimate,
    JudgedRuns,
    NotAvailable,
    SituationInfo,
    SituationResult,
)
from experiments.report.records.verdict import Criterion, MeasureChange, VerdictComparison, VerdictText
from flcs import Rule
from tests.experiments.report.reading import read, words
from tests.experiments.report_example import CASES, CHANNEL, example

CHANNEL_COLUMNS = ("reference", "output", "command")


@pytest.fixture(scope="module")
def data():
    return example(5.0, 0.02)


@pytest.fixture(scope="module")
def page(data):
    return render(data)


def swapped(data, key, **changes):
    """The report with one controller changed."""
    return replace(data, controllers=tuple(replace(c, **changes) if c.key == key else c for c in data.controllers))


def controllers_with(data, change, key="", situation=""):
    """The controllers with `change` made to the results of one of them (or of all) in one situation (or in all)."""

    def of(controller):
        results = (change(r) if situation in {"", r.situation} else r for r in controller.results)
        return replace(controller, results=tuple(results))

    return tuple(of(c) if key in {"", c.key} else c for c in data.controllers)


def altered(data, *change):
    """The report with these results."""
    return replace(data, controllers=controllers_with(data, *change))


def test_tags_are_balanced_and_drawings_are_well_formed(page):
    read(page)
    body = re.sub(r"<(script|style).*?</\1>", "", page.split("\n", 1)[1], flags=re.DOTALL)
    # Without style and script the page is XML, and so is every drawing in it.
    assert ET.fromstring(body).tag == "html"


def test_anchors_lead_somewhere(page):
    attributes = read(page).attributes
    ids = [value for _, key, value in attributes if key == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for tag, key, value in attributes if (tag, key) == ("a", "href")} <= set(ids)


def test_nothing_is_loaded(page):
    attributes = read(page).attributes
    assert not [a for a in attributes if a[1] in {"src", "srcset", "data", "action", "xlink:href"}]
    assert not [v for tag, key, v in attributes if key == "href" and not v.startswith("#")]
    assert not re.search(r"https?:|@import|url\(|//\w+\.", page)
    assert any(key == "content" and value.startswith("default-src 'none'") for _, key, value in attributes)


def test_same_data_same_bytes(data):
    assert render(data) == render(example(5.0, 0.02))


def test_first_screen_answers_the_questions(page):
    text = words(page)
    first = text[: text.index("Ladder of baselines")]
    for answer in (
        "Recommend: knowledge base (rule-based gain schedule)",
        "unforeseen situations (test scenarios), at 1.90 times the actuator travel, against",
        "95 % interval",
        "over 10 situations",
        "of the range",
        "Worst case",
        "Ms, peak of sensitivity",
        "Delay margin",
        "your present gains",
        "Ti [s]",
        "Warning: Only 4 taught plants",
    ):
        assert answer in first


def test_every_number_of_a_situation_is_there(data, page):
    row = data.controller("fixed").result("larger step").measures
    text = words(page)
    text = text[text.index("Small figures: change against") :]
    for value in (row[name] for name in ("iae", "ise", "itae", "effort", "total_variation", "entropy_plant")):
        assert number(value) in text


def test_losses_carry_sign_and_word(data):
    page = render(altered(data, lambda r: replace(r, cost=Estimate(99.0)), "kb", "larger step"))
    fixed = data.controller("fixed").result("larger step").cost.value
    loss = percent(99.0 / fixed - 1.0)
    text = words(page)
    assert f"▲ {loss} loss".replace("\u00a0", " ") in text  # in the table of all numbers
    assert re.search(rf"cost J: loses in \d+ of {len(CASES)}; most in larger step", text)
    assert f"▲ {loss} worse".replace("\u00a0", " ") in text  # on the first screen
    assert judged(0.04) == '<span class="loss">▲ +4.0\u00a0% worse</span>'
    assert "worse" not in judged(-0.04)


def test_divergence_is_said_and_does_not_flatten_the_charts(data):
    def broken(result):
        output = result.response.output.copy()
        output[100:] = 1e30
        output[150:] = np.nan
        return replace(result, response=replace(result.response, output=output), diverged_at=2.0, failures=3)

    page = render(altered(data, broken, "present", "mu doubled"))
    read(page)
    assert "▲ diverged: your present gains at 2.00 s" in words(page)
    ranges = [tuple(map(float, v.split())) for _, k, v in read(page).attributes if k == "data-y"]
    assert max(high for _, high in ranges) < 1e6


HOSTILE = "<script>alert(1)</script>&\"'\x00\ud800 ]]>"


def test_foreign_text_is_escaped(data):
    hostile = controllers_with(data, lambda r: replace(r, situation=HOSTILE), "", data.situations[0].name)
    page = render(
        replace(
            data,
            title=HOSTILE,
            plant=HOSTILE,
            cost=HOSTILE,
            channels=(ChannelView(HOSTILE, HOSTILE, HOSTILE, HOSTILE, -20.0, 20.0),),
            situations=(SituationInfo(HOSTILE, "taught", HOSTILE), *data.situations[1:]),
            controllers=tuple(replace(c, label=HOSTILE + c.key, text=HOSTILE) for c in hostile),
            verdict=replace(data.verdict, reason=HOSTILE),
            knowledge=replace(data.knowledge, place=HOSTILE),
            teaching=NotAvailable(HOSTILE),
            facts=((HOSTILE, HOSTILE),),
            searches=(SearchHistory(HOSTILE, "kb", np.arange(1, 9), np.arange(9, 1, -1.0), text=HOSTILE),),
            warnings=(ReportWarning(HOSTILE, "warning", HOSTILE),),
            provenance=Provenance(HOSTILE, HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), ((HOSTILE, HOSTILE),)),
        )
    )
    page.encode("utf-8")
    assert page.count("<script") == 1
    assert "\x00" not in page
    reader = read(page)
    assert {key for _, key, _ in reader.attributes if key.startswith("on")} == set()
    assert "".join(reader.text).count("<script>alert(1)</script>&") > 20


def test_conditions_of_every_judged_controller(page):
    text = words(page)
    part = text[text.index("Conditions of the verdict") : text.index("Ladder of baselines Simplest")]
    assert "gain table on q² turned down ✗ failed +1 % [−2 … +3] 40.0 % of the runs, rank test p 0.20" in part
    assert "knowledge base recommended ✓ held −31 % [−36 … −25] 97.0 % of the runs, rank test p 1·10⁻⁹" in part


def test_teaching_signal_is_drawn_with_its_weights(data, page):
    text = words(page)
    part = text[text.index("Teaching signal Best gains") : text.index("Entropy production of plant and controller")]
    assert "8 windows each." in part
    names = [v for tag, key, v in read(page).attributes if (tag, key) == ("path", "data-n")]
    assert names.count("taught") == names.count("learned") == 3 * len(data.teaching.labels)
    assert names.count("weight") == len(data.teaching.labels)
    nobody = render(replace(data, teaching=replace(data.teaching, learned=None)))
    assert not [v for tag, key, v in read(nobody).attributes if (tag, key, v) == ("path", "data-n", "learned")]
    bare = words(render(replace(data, teaching=NotAvailable("no window was taught"))))
    assert "not available: no window was taught" in bare


def test_gain_tables_can_be_typed_in(data):
    verdict = replace(data.verdict, recommended="table")
    text = words(render(replace(data, verdict=verdict)))
    first = text[: text.index("Conditions of the verdict")]
    assert "|e| = 0 m; linear in between" in first
    assert "|e| = 1.3 m and beyond" in first
    assert "kp [N/m]" in first


def test_a_condition_asked_of_one_controller_has_a_column_of_its_own(data):
    first, *others = data.verdict.judgements
    extra = tuple(Criterion("nothing else speaks against it", False, why) for why in ("a wall", "a draw"))
    changed = replace(others[-1], criteria=(*others[-1].criteria, *extra))
    verdict = replace(data.verdict, judgements=(first, *others[:-1], changed))
    table = re.search(r'<table class="conditions">.*?</table>', render(replace(data, verdict=verdict)), re.DOTALL)[0]
    head, *rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    assert {len(re.findall(r"<t[hd][ >]", row)) for row in rows} == {len(re.findall(r"<th[ >]", head))}
    assert "a wall; a draw" in rows[-1]


def test_diverging_present_gains_are_said_first(data):
    lost = swapped(data, "present", judged=JudgedRuns(50, 2, {}))
    first = words(render(lost)).partition("Conditions of the verdict")[0]
    assert "your present gains ▲ diverge in 2 of 50 runs" in first


def test_changes_in_a_situation_are_losses_only_if_proven(data):
    unproven, proven = (
        words(render(altered(data, lambda r, change=change: replace(r, change=change), "kb")))
        for change in (Estimate(0.04, -0.01, 0.09), Estimate(0.04, 0.01, 0.07))
    )
    assert f"cost J: no loss in any of {len(CASES)} situations." in unproven
    assert "≈ +4.0 %" in unproven
    assert f"cost J: loses in {len(CASES)} of {len(CASES)}" in proven


def test_a_measure_that_loses_is_said_beside_a_cost_that_does_not(data):
    better = altered(data, lambda r: replace(r, change=Estimate(-0.1, -0.2, -0.05)), "kb")
    lost = altered(better, lambda r: replace(r, changes={"iae": Estimate(0.2, 0.1, 0.3)}), "kb", "mu doubled")
    held = altered(lost, lambda r: replace(r, changes={"iae": Estimate(-0.1, -0.2, -0.05)}), "kb")
    first, fine = (words(render(d)).partition("Conditions of the verdict")[0] for d in (lost, held))
    assert f"cost J: no loss in any of {len(CASES)} situations." in first
    assert re.search(rf"IAE: loses in \d+ of {len(CASES)}; most in ", first)
    assert f"IAE: no loss in any of {len(CASES)} situations." in fine


def test_changes_of_every_measure_stand_on_the_first_screen(data):
    changes = (
        MeasureChange("kb", "fixed", "cost", Estimate(-0.3, -0.35, -0.25)),
        MeasureChange("kb", "fixed", "iae", Estimate(0.09, 0.05, 0.12)),
        MeasureChange("kb", "fixed", "entropy_difference_abs", Estimate(-0.02, -0.06, 0.03)),
        MeasureChange("kb", "fixed", "total_variation", Estimate(float("nan"))),
    )
    shown = replace(data, verdict=replace(data.verdict, measures=changes), units={"iae": "m s"})
    first = words(render(shown)).partition("Conditions of the verdict")[0]
    for told in (
        "cost J VALUES ▼ −30.0 % better −35.0 … −25.0 %",
        "IAE VALUES m s ▲ +9.0 % worse +5.0 … +12.0 %",
        "entropy ∫|ΔṠ| dt VALUES ≈ −2.0 % not proven −6.0 … +3.0 %",
        "travel VALUES not available",
        "Ms better at 5 of 5 points: −9.7 % … −8.6 % ▼ −8.6 % better worst 1.63 against 1.79 delay margin better at 0 of",
        "▼ −29.7 % worse worst 0.209 against 0.297 s",
    ):
        assert told in re.sub(r"[\d.]+ → [\d.]+", "VALUES", first)
    refused = replace(shown, verdict=replace(shown.verdict, recommended="fixed"))
    first = words(render(refused)).partition("What to type")[0]
    assert "(not recommended): change by measure" in first
    for told in (" −30.0 % −35.0 … −25.0 %", " +9.0 % +5.0 … +12.0 %", "−8.6 % −8.6 % worst 1.63 against 1.79"):
        assert told in first  # no word or colour for what is turned down
    runs = JudgedRuns(256, 1, {})
    lost = replace(shown, controllers=tuple(replace(c, judged=runs) for c in data.controllers))
    assert " → " not in words(render(lost)).partition("What to type")[0]  # means of different runs are no change
    older = words(render(data)).partition("Conditions of the verdict")[0]
    assert "changes by measure were not stored by the release that made this run" in older


def test_first_screen_says_what_it_rests_on(data):
    evidence = Evidence("20 paired runs. The intervals cover the noise alone.", ("sensor noise", "jitter"))
    about = PlantText((("controls", "position by force"), ("sample time", "0.01 s")), "def derivative(t, x): ...")
    whole = replace(data, evidence=evidence, about=about)
    first = words(render(whole)).partition("Conditions of the verdict")[0]
    for told in ("controls: position by force", "sample time: 0.01 s", "def derivative(t, x)", evidence.covers,
                 "sensor noise; jitter.", "Worst found in the declared ranges: not available",
                 "Over the declared ranges: not available: not computed"):  # fmt: skip
        assert told in first
    told = replace(evidence, worst_case="J 3.2 at mu = 2", range_margins="Ms 1.79 at worst")
    first = words(render(replace(whole, evidence=told))).partition("Conditions of the verdict")[0]
    assert "Worst found in the declared ranges: J 3.2 at mu = 2" in first
    assert "Over the declared ranges: Ms 1.79 at worst" in first
    older = words(render(data)).partition("Conditions of the verdict")[0]
    assert older.count("not stored by the release that made this run;") == 3


def test_sections_fold_and_the_ladder_stands_open(page):
    folded = re.findall(r'<section id="(\w+)"><details>', page)
    assert {"conditions", "responses", "numbers", "glossary"} <= set(folded)
    assert re.findall(r'<section id="(\w+)"><details open', page) == ["ladder"]


def test_situations_that_were_not_recorded_are_named_once(data):
    gone = NotAvailable("only the costliest are recorded")
    text = words(render(altered(data, lambda r: replace(r, response=gone), "", "mu halved")))
    told = f"1 of {len(CASES)} situations are not drawn: not available: only the costliest are recorded"
    assert text.count(told) == 3  # in the sections of responses, gains and entropy


def test_rules_with_one_input_are_drawn_as_lines(data):
    kb = data.knowledge.kb
    rules = tuple(Rule((i,), (float(i), 1.0, 2.0)) for i in range(3))
    one = replace(kb.channels[0], inputs=kb.channels[0].inputs[:1], rules=rules)
    page = render(replace(data, knowledge=Knowledge(replace(kb, channels=(one,)), controller="kb")))
    assert "kp [N/m] over error [m]" in {v for _, key, v in read(page).attributes if key == "aria-label"}


def test_structure_shows_inputs_and_the_way_to_fewer_rules(data):
    page = render(data)
    assert "cost J over rules left" in {v for _, key, v in read(page).attributes if key == "aria-label"}
    text = words(page)
    assert "4 rules of 9 at +8.3 % (validation +7.1 %); allowed 5 %" in text
    assert "Terms by genetic search: e 3, e_rate 3; triangular" in text
    assert "kept: the loop needs it" in text
    assert "This J is the search's own" in text
    assert "tells no more about the gains than chance" in text
    assert "the run searched no structure" in words(render(replace(data, knowledge=None)))
    other = replace(data.knowledge, curve=None, controller="fixed", kb=replace(data.knowledge.kb, training={}))
    assert "It looks at e, e_rate and has 9 of 9 rules" in words(render(replace(data, knowledge=other)))


def test_parts_may_be_missing(data):
    bare = tuple(
        ControllerResult(c.key, c.label, results=tuple(SituationResult(r.situation) for r in c.results))
        for c in data.controllers
    )
    empty = replace(
        data,
        controllers=bare,
        knowledge=None,
        teaching=NotAvailable("no teaching signal was found"),
        searches=(),
        warnings=(),
        verdict=VerdictText("fixed", "fixed"),
    )
    text = words(render(empty))
    for reason in (
        "no teaching signal was found",
        "the run built no knowledge base",
        "margins were not computed",
        "no PID gains",
        "not available",
    ):
        assert reason in text


def test_numbers_may_be_missing(data):
    nothing = {"measures": {}, "cost": Estimate(float("nan")), "response": NotAvailable("too long")}
    margins = PointMargins((MarginPoint("rest", float("inf"), float("nan")),), "one point")
    changed = swapped(altered(data, lambda r: replace(r, **nothing), "kb"), "kb", margins=margins,
                      gains=(ChannelGains(0.0, 1.0, 0.0),))  # fmt: skip
    unlimited = replace(CHANNEL, low=-np.inf, high=np.inf)
    assert "too long" in words(render(replace(changed, channels=(unlimited,))))


def test_fixed_gains_win(data):
    verdict = replace(data.verdict, recommended="fixed", reason="The schedule is not proven better.")
    text = words(render(replace(data, verdict=verdict)))
    assert "Recommend: best fixed gains" in text
    assert "Not recommended: knowledge base" in text
    assert "Turned down" not in text
    first = render(replace(data, verdict=verdict)).partition('id="conditions"')[0]
    assert 'class="big' not in first  # a change in large green would recommend what is not
    for whom, told in (
        ("kb", "Left is better; in words: knowledge base against best fixed gains"),
        ("", "Left is better."),
    ):
        text = words(render(replace(data, verdict=replace(verdict, judged=whom))))
        assert told in text  # of what was turned down, situation by situation
        assert "best fixed gains against best fixed gains" not in text


def test_an_unproven_gain_is_not_called_better(data):
    change = Estimate(-0.02, -0.06, 0.03)
    verdict = replace(data.verdict, comparisons=(VerdictComparison("kb", "fixed", change, equal_travel=True),))
    text = words(render(replace(data, verdict=verdict)))
    assert "≈ −2.0 % not proven" in text
    assert "▼ −2.0 % better" not in text


def test_comparisons_are_turned_round(data):
    comparison = VerdictComparison(
        "kb", "fixed", Estimate(0.25, -0.2, 1.0), equal_travel=True, travel_ratio=2.0
    ).turned()
    assert (comparison.controller, comparison.against, comparison.travel_ratio) == ("fixed", "kb", 0.5)
    change = comparison.change
    assert (change.value, change.low, change.high) == pytest.approx((-0.2, -0.5, 0.25))


def test_no_present_gains(data):
    text = words(render(replace(data, verdict=replace(data.verdict, present=""))))
    assert "no present gains were given (controller.own_gains=[kp,ki,kd]): " in text


def test_several_channels_are_drawn(data):
    def doubled(result):
        twice = {n: np.repeat(getattr(result.response, n), 2, axis=1) for n in CHANNEL_COLUMNS}
        return replace(result, response=replace(result.response, seen=np.tile(result.response.seen, 2), **twice))

    second = ChannelView("angle", "rad", "torque", "N m", -5.0, 5.0)
    (base,) = data.knowledge.kb.channels
    kb = replace(data.knowledge.kb, channels=(base, replace(base, name="angle")))
    controllers = tuple(
        c if isinstance(c.gains, NotAvailable) else replace(c, gains=c.gains * 2)
        for c in controllers_with(data, doubled)
    )
    whole = {"channels": (CHANNEL, second), "knowledge": Knowledge(kb, controller="kb")}
    page = render(replace(data, controllers=controllers, **whole))
    assert page.count("angle [rad]") >= len(CASES)
    assert "Channel angle" in words(page)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": VerdictText("kbb", "fixed")}, "no recommended controller 'kbb'; did you mean 'kb'"),
        ({"situations": ()}, "controller 'open' must have one result for each situation (), got step to 1.5"),
        ({"channels": (CHANNEL, CHANNEL), "knowledge": None}, "must have one column for each of the 2 channels, got 1"),
        ({"channels": (CHANNEL, CHANNEL)}, "the knowledge base must have 2 channels, got 1"),
    ],
)
def test_wrong_names_are_refused(data, change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(data, **change)


def test_wrong_lengths_are_refused(data):
    response = data.controller("kb").results[0].response
    with pytest.raises(ValueError, match=r"Response\.command must have shape \(251, 1\), got \(250, 1\)"):
        replace(response, command=response.command[:-1])


def test_a_large_report_stays_small(data):
    # 6 controllers, 10 situations, 4000 samples of white noise in every curve: nothing is harder to draw.
    rng = np.random.default_rng(0)
    time = np.linspace(0.0, 40.0, 4000)

    def noisy(result):
        wide = {n: rng.standard_normal((4000, 1)) for n in CHANNEL_COLUMNS}
        pairs = {n: rng.standard_normal((4000, 2)) for n in ("entropy_rates", "entropies", "seen")}
        gains = rng.standard_normal((4000, 3))
        return replace(result, response=replace(result.response, time=time, gains=gains, **wide, **pairs))

    assert len(render(altered(data, noisy)).encode()) < 4e6


def test_standard_form_of_gains():
    k, ti, td, n = ChannelGains(3.62, 0.59, 3.17, filter_time=0.05).standard
    assert (k, ti, td, n) == pytest.approx((3.62, 3.62 / 0.59, 3.17 / 3.62, 3.17 / 3.62 / 0.05))
    assert ChannelGains(2.0, 0.0, 0.0).standard[1] == math.inf
    assert math.isnan(ChannelGains(0.0, 1.0, 0.0).standard[1])
