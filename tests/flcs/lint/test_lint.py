"""Every finding of the linter: there where its fault was planted, not there on a clean base."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import flcs
from flcs import Inference, KnowledgeBase, KnowledgeBaseError, RuleBase, Variable
from flcs.inference.membership import Gaussian
from flcs.inference.rule_base import full_grid
from flcs.inference.variable import evenly
from flcs.lint import inputs, recorded_inputs, region
from flcs.lint.findings import CODES, Limits, explain

N = 5  # terms of each input
MIDDLE = 12  # place of the rule in the middle of the 5 x 5 grid


def clean(order=0, shape="triangular", names=("e", "e_rate"), **settings):
    """A full grid whose gains rise gently with the error: nothing to be found."""
    variables = tuple(Variable(n, "m", -2.0, 2.0, evenly(-2.0, 2.0, N), shape=shape) for n in names)
    slopes = {"slopes": ((0.2,) * len(names),) * 3} if order else {}
    rules = [
        replace(rule, gains=(4.0 + 0.4 * rule.terms[0], 1.0, 2.0 + 0.2 * rule.terms[-1]), **slopes)
        for rule in full_grid([N] * len(names), (5.0, 1.0, 2.0), order)
    ]
    base = RuleBase("position", variables, tuple(rules), (0.0,) * 3, (10.0,) * 3, (5.0, 1.0, 2.0))
    how = {key: settings.pop(key) for key in ("t_norm", "fallback", "fade", "authority") if key in settings}
    return KnowledgeBase("van_der_pol", (base,), Inference(order=order, **how), tick=0.02, **settings)


def changed(kb, **parts):
    return kb.with_channel(0, replace(kb.channels[0], **parts))


def with_rule(kb, number, **parts):
    rules = list(kb.channels[0].rules)
    rules[number] = replace(rules[number], **parts)
    return changed(kb, rules=tuple(rules))


def with_error(kb, **parts):
    """Exchange something of the error's terms."""
    first, *others = kb.channels[0].inputs
    return changed(kb, inputs=(replace(first, **parts), *others))


def without(kb, *numbers):
    on = [number not in numbers for number in range(len(kb.channels[0].rules))]
    return kb.with_channel(0, kb.channels[0].switched(on))


def edited(change, kb=None):
    """The document after an edit by hand."""
    document = json.loads(json.dumps((kb or clean()).document()))
    change(document["channels"][0])
    return document


def wide(a, b, **parts):
    """Gaussian terms of the error; two of them with centres at a and b and the given widths."""
    settings = {"shape": Gaussian(), "centres": (-2.0, a, b, 1.0, 2.0), "widths": (0.4, 0.4, 0.4, 0.4, 0.4), **parts}
    return with_error(clean(), **settings)


def rows(e, e_rate=None, **others):
    e = np.asarray(e, dtype=float)
    return {"e": e, "e_rate": np.zeros(len(e)) if e_rate is None else np.asarray(e_rate, dtype=float), **others}


EVERYWHERE = rows(*(part.ravel() for part in np.meshgrid(np.linspace(-2, 2, 21), np.linspace(-2, 2, 21))))


def repeat(channel, **parts):
    channel["rules"].insert(4, {**channel["rules"][1], **parts})


PLANTED = {
    "L001": lambda: edited(lambda channel: channel["rules"][0].update(gains=[4.1, 1.0, 2.0])),
    "L101": lambda: without(clean(), MIDDLE),
    "L102": lambda: clean(shape=Gaussian(), t_norm="product", fallback=1.3),
    "L103": lambda: (without(clean(), MIDDLE), EVERYWHERE),
    "L104": lambda: without(clean(), *range(N * N)),
    "L201": lambda: edited(lambda channel: repeat(channel, gains=[9.0, 1.0, 2.0])),
    "L202": lambda: with_rule(wide(-0.1, 0.1), MIDDLE, gains=(9.0, 1.0, 2.0)),
    "L301": lambda: with_error(
        clean(), shape=Gaussian(), centres=(-2.0, -1.0, 0.0, 1.0, 3.0), widths=(0.4, 0.4, 0.4, 0.4, 0.1)
    ),
    "L302": lambda: (clean(), rows(np.linspace(0.0, 2.0, 50), np.linspace(0.0, 2.0, 50))),
    "L303": lambda: edited(repeat),
    "L304": lambda: with_rule(wide(-0.02, 0.02), 7, gains=(4.8, 1.0, 2.4)),
    "L401": lambda: with_rule(with_error(clean(), centres=(-2.0, 0.0, 0.05, 1.0, 2.0)), MIDDLE, gains=(9.0, 1.0, 2.0)),
    "L402": lambda: with_rule(with_error(clean(), centres=(-2.0, -0.1, 0.1, 1.0, 2.0)), MIDDLE, gains=(9.0, 1.0, 2.0)),
    "L403": lambda: with_rule(replace(clean(), tick=0.25), MIDDLE, gains=(9.5, 1.0, 2.0)),
    "L501": lambda: with_error(clean(), centres=(-2.0, -1.0, 0.0, 1.0, 2.5)),
    "L502": lambda: (clean(), rows([*EVERYWHERE["e"], 2.5], [*EVERYWHERE["e_rate"], 0.0])),
    "L601": lambda: with_rule(clean(), MIDDLE, gains=(4.8, -0.5, 2.4)),
    "L602": lambda: with_rule(clean(), MIDDLE, gains=(4.8, 0.0, 2.4)),
    "L603": lambda: edited(lambda channel: channel.update(reference=[11.0, 1.0, 2.0])),
    "L604": lambda: with_rule(clean(order=1), 24, gains=(5.6, 1.0, 2.8), slopes=((3.0, 3.0), (0.2, 0.2), (0.2, 0.2))),
    "L701": lambda: without(clean(), 0, 1, 2, 3, 4),
    "L702": lambda: wide(-0.02, 0.02),
    "L703": lambda: with_error(clean(), centres=(-2.0, -0.5, 0.6, 1.0, 2.0)),
    "L801": lambda: clean(authority=0.0),
    "L802": lambda: clean(fallback=2.0),
    "L803": lambda: clean(fallback=0.001),
    "L804": lambda: clean(fade=0.01),
    "L805": lambda: clean(fade=10.0),
    "L806": lambda: clean(slew=60.0),
    "L807": lambda: clean(slew=0.02),
    "L808": lambda: replace(clean(), tick=0.6),
    "L809": lambda: changed(clean(), law={"law": "PID", "sample_time": 0.015}),
    "L810": lambda: changed(clean(names=("e", "z")), integral_limit=5.0),
}


def linted(what, **settings):
    kb, data = what if isinstance(what, tuple) else (what, None)
    return flcs.lint(kb, data, **settings)


def only(what, code, **settings):
    """The one finding of a code."""
    (finding,) = (f for f in linted(what, **settings) if f.code == code)
    return finding


@pytest.mark.parametrize("code", CODES)
def test_a_planted_fault_is_found(code):
    found = [finding for finding in linted(PLANTED[code]()) if finding.code == code]
    assert found
    assert found[0].severity == CODES[code].severity
    assert found[0].advice == CODES[code].advice


@pytest.mark.parametrize(
    "kb", [clean(), clean(order=1), clean(shape="trapezoid"), clean(slew=1.0), clean(names=("e", "z"))]
)
def test_nothing_is_found_on_a_clean_base(kb, tmp_path):
    columns = dict(zip(kb.input_names, (EVERYWHERE["e"], EVERYWHERE["e_rate"]), strict=True))
    kb.save(tmp_path / "kb.json")
    assert flcs.lint(kb, columns) == flcs.lint(tmp_path / "kb.json", columns) == ()


def test_findings_are_plain_and_the_errors_come_first():
    document = edited(lambda channel: repeat(channel, gains=[9.0, 1.0, 12.0]), without(clean(), MIDDLE))
    document["inference"]["fade"] = 10.0
    found = flcs.lint(document, EVERYWHERE)
    assert [f.severity for f in found] == sorted((f.severity for f in found), key=("error", "warning", "note").index)
    assert {f.severity for f in found} == {"error", "warning", "note"}
    plain = [f.document() for f in found]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


# ------------------------------------------------------------------------------------------------------------ coverage


def test_a_hole_is_named_by_its_terms_and_has_its_size():
    finding = only(without(clean(), MIDDLE), "L101")
    assert "where error is zero (" in finding.message
    assert finding.numbers["terms"] == [[2], [2]]
    # with mu = 1 - |u|, 1 - |v| of the missing rule the reference has more than a share s where 1 - mu_u mu_v < (1 - s) / 2;
    # with m = (1 + s) / 2 that is the area 4 (1 - m + m ln m) in distances of centres, of 16
    m = 0.55
    assert finding.numbers["share"] == pytest.approx(4.0 * (1.0 - m + m * np.log(m)) / 16.0, rel=0.03)  # grid of 1 %
    assert finding.numbers["high"][0] == pytest.approx(1.0 - m, abs=0.05)


def test_neighbouring_holes_are_one_region():
    finding = only(without(clean(), *(5 * i + k for i in (3, 4) for k in range(N))), "L101")
    assert "error is positive small or positive big" in finding.message
    assert "error rate" not in finding.message  # at any
    # the rules left sum to 1 - u at a distance u beyond the centre 0: the reference has a share above 0.1 for u > 0.55
    assert finding.numbers["share"] == pytest.approx((2.0 - 0.55) / 4.0, abs=0.005)


def test_boxes_hold_every_wanted_cell_once():
    wanted = np.random.default_rng(1).random((4, 3, 5)) < 0.5
    times = np.zeros(wanted.shape, dtype=int)
    for box in inputs.boxes(wanted):
        times[box] += 1
    np.testing.assert_array_equal(times, wanted)


def test_data_in_a_hole_are_counted():
    finding = only((without(clean(), MIDDLE), rows([0.0, 0.0, 1.0, 2.0])), "L103")
    assert (finding.numbers["rows"], finding.numbers["of"], finding.numbers["terms"]) == (2, 4, [2, 2])


@pytest.mark.parametrize("names", [("e",), ("e", "e_rate"), ("e", "e_rate", "z"), ("e", "e_rate", "z", "speed")])
def test_points_fill_the_ranges(names):
    base = clean(names=names).channels[0]
    points, shares = region.filled(base)
    assert len(points) <= region.MOST_POINTS + len(base.rules)
    assert shares.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.abs(points).max() <= 2.0
    # the mean of x^2 over [-2, 2] is 4/3: the trapezoidal rule on 30 points or more, the Sobol set of 16384 or more
    np.testing.assert_allclose(shares @ points**2, 4.0 / 3.0, rtol=2e-3)
    for rule in range(0, len(base.rules), 17):
        assert (points == region.centre_of(base, rule)).all(axis=1).any()


# --------------------------------------------------------------------------------------------------------------- rules


def test_rules_keep_the_numbers_of_the_file():
    def change(channel):
        repeat(channel)
        channel["rules"][13]["gains"] = [4.8, -0.5, 2.4]  # place 12 without the repeated rule

    document = edited(change)
    assert only(document, "L303").numbers["rules"] == [2, 5]
    assert only(document, "L601").numbers["rule"] == 14


def test_a_contradiction_names_rules_gain_and_difference():
    finding = only(PLANTED["L201"](), "L201")
    assert finding.numbers == {"rules": [2, 5], "difference": pytest.approx(0.5)}
    assert "kp = 4 and 9, 50 % of the box apart" in finding.message
    close = with_rule(wide(-0.02, 0.02), MIDDLE, gains=(9.0, 1.0, 2.0))
    assert only(close, "L201").numbers["rules"] == [8, 13]


def test_a_rule_that_is_off_contradicts_nothing():
    kb = without(with_rule(wide(-0.1, 0.1), MIDDLE, gains=(9.0, 1.0, 2.0)), MIDDLE)
    assert "L202" not in {f.code for f in flcs.lint(kb)}


def test_the_similarity_of_triangles_is_exact():
    # neighbours of an even strong partition cross at 1/2: areas 1/4 of the distance over 2 - 1/4, at the ends 1/2 less
    table = region.similarity(clean().channels[0].inputs[0])
    assert table[1, 2] == pytest.approx(0.25 / 1.75, rel=1e-3)
    assert table[0, 1] == pytest.approx(0.25 / 1.25, rel=1e-3)
    assert table[0, 2] == 0.0


# --------------------------------------------------------------------------------------------------------------- gains


def test_the_largest_slope_is_that_of_the_surface():
    kb = PLANTED["L401"]()
    # 9 - 4.4 over a gap of 0.05; 1 % of the range is 0.04
    assert only(kb, "L401").numbers["change"] == pytest.approx(0.8 * 0.46, rel=1e-6)


def test_the_largest_change_in_a_tick_is_found():
    kb = PLANTED["L403"]()
    # kp rises from 4.4 at e = -1 to 9.5 at e = 0 with e_rate = 0, and e moves by 2 * 0.25
    assert only(kb, "L403").numbers["change"] == pytest.approx(0.5 * 0.51, rel=1e-6)
    assert "L403" not in {f.code for f in flcs.lint(replace(kb, slew=1.0))}


def test_rates_come_from_data_with_times():
    data = {**EVERYWHERE, "time": np.arange(441) * 0.001, "situation": np.arange(441) // 21}
    found = only((with_rule(clean(), MIDDLE, gains=(9.5, 1.0, 2.0)), data), "L403")
    assert "error at 200/s" in found.message  # 0.2 in a millisecond; the jump back at the end of a series is none


# ---------------------------------------------------------------------------------------------------------------- data


def test_data_are_read_from_csv_and_npz(tmp_path):
    (tmp_path / "a.csv").write_text("# a comment\nerror,error_rate\n0.5,1\n-0.5,2\n")
    np.savez(tmp_path / "b.npz", e=[0.5, -0.5], e_rate=[1.0, 2.0])
    np.savez(tmp_path / "c.npz", inputs=[[0.5, 1.0], [-0.5, 2.0]], input_names=["e", "e_rate"])
    for name in ("a.csv", "b.npz", "c.npz"):
        found = recorded_inputs.recorded(recorded_inputs.read(tmp_path / name), clean())
        np.testing.assert_array_equal(found.inputs, [[0.5, 1.0], [-0.5, 2.0]])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "e,e_rate\n0.5\n", "row 2 must be 2 numbers"),
        ("a.csv", "e,e_rate\n", "expected a row of names and rows of numbers"),
        ("a.npz", "no archive", "is no complete NPZ of plain arrays"),
        ("a.txt", "", "must be a file .csv or .npz"),
    ],
)
def test_data_that_cannot_be_read_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        recorded_inputs.read(tmp_path / name)


def test_data_that_do_not_fit_are_refused():
    for data, message in (
        ({"e": [1.0]}, "no input of channel 1"),
        (rows([np.nan]), "data must be finite, got e = nan in row 0"),
        (rows([]), "at least one row"),
        (rows([1.0], [1.0, 2.0]), "arrays of one length"),
    ):
        with pytest.raises(ValueError, match=message):
            flcs.lint(clean(), data)
    with pytest.raises(TypeError, match="got list"):
        flcs.lint(clean(), [1.0])


def test_channels_find_their_own_data(several):
    data = {"e_1": np.array([0.1]), "e_2": np.array([9.0]), "z_2": np.array([0.1]), "speed": np.array([2.0])}
    (finding,) = (f for f in flcs.lint(several, data) if f.code == "L502")
    assert (finding.channel, finding.numbers["input"]) == ("right", "e")


# -------------------------------------------------------------------------------------------------------------- limits


def test_limits_decide():
    kb = with_rule(clean(), MIDDLE, gains=(6.0, 1.0, 2.4))
    assert flcs.lint(kb) == ()
    assert only(kb, "L401", limits=Limits.parsed(["steep=0.003"])).numbers["gain"] == "kp"
    for setting, message in (
        ("step=1", "did you mean 'steep'"),
        ("steep=x", "positive number"),
        ("steep=0", "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            Limits.parsed([setting])


def test_codes_are_explained():
    assert explain("l202").startswith("L202, warning: contradicting neighbours\n")
    assert "overlap = 0.5, contradiction = 0.3" in explain("L202")
    with pytest.raises(ValueError, match="no code 'L999'"):
        explain("L999")


def test_a_document_that_is_none_is_refused():
    endless = edited(lambda channel: channel.update(reference=[float("inf"), 1.0, 10**400]))
    for document in ({}, {"channels": 3}, {"channels": [{"rules": [{"terms": "x"}], "low": None}]}, endless):
        with pytest.raises(KnowledgeBaseError):
            flcs.lint(document)


def test_25_rules_take_less_than_a_second_of_processor_time():
    kb = with_error(clean(), shape=Gaussian(), widths=(0.04,) * N)  # the narrowest terms: the largest grid
    start = time.process_time()
    flcs.lint(kb)
    assert time.process_time() - start < 2.0  # some 0.4 s where nothing else runs; others share the processor's cache


def test_a_word_that_its_centre_contradicts_is_an_error():
    finding = only(PLANTED["L703"](), "L703")
    assert finding.message == "term Z (zero) of error has its centre at 0.6 m; 0 is nearer to term NS (negative small)"
    assert finding.severity == "error"
    shifted = with_error(clean(), centres=(-2.0, 0.1, 0.6, 1.0, 2.0))
    assert [f.numbers["term"] for f in linted(shifted) if f.code == "L703"] == [1, 2]
    named = with_error(clean(), centres=(-2.0, -0.5, 0.6, 1.0, 2.0), labels=("a", "b", "about 0.6", "d", "e"))
    assert not [f for f in linted(named) if f.code == "L703"]
