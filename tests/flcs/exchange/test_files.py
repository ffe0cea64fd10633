"""MATLAB's .fis and IEC 61131-7 FCL: round trips, an evaluator of the tests' own, and what is refused with its line."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from flcs import Inference, KnowledgeBaseError, Rule, Variable
from flcs.exchange import (
    ExchangeError,
    Given,
    complement,
    fcl_reader,
    fcl_writer,
    fis_reader,
    fis_writer,
    imported,
    plain_differences,
    restored,
    system_of,
)
from flcs.inference.membership import Trapezoid
from flcs.inference.output_sets import OutputSets

FORMATS = {"fis": (fis_writer.write, fis_reader.read), "fcl": (fcl_writer.write, fcl_reader.read)}
every_format = pytest.mark.parametrize("name", FORMATS)


def texts(kb, name):
    write, _ = FORMATS[name]
    return [write(system_of(kb, k)) for k in range(len(kb.channels))]


def back(kb, name, files=None):
    """What comes back from the files and the complement, both as text."""
    document = json.loads(json.dumps(complement(kb)))
    return restored(document, [FORMATS[name][1](text) for text in files or texts(kb, name)])


def some_off(kb):
    return kb.with_channel(0, kb.channels[0].switched([k % 3 != 1 for k in range(len(kb.channels[0].rules))]))


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", ["triangular", "trapezoid", "gaussian", "bell"])
def test_fis_round_trip_is_exact(builders, shape, order, t_norm):
    kb = some_off(builders["kb"](shape, order, tick=0.1, t_norm=t_norm, authority=0.7, slew=0.5, fallback=0.3))
    assert back(kb, "fis").content_hash == kb.content_hash


@pytest.mark.parametrize("shape", ["triangular", "trapezoid"])
def test_fcl_round_trip_is_exact(builders, shape):
    kb = some_off(builders["kb"](shape, tick=0.1, t_norm="minimum", authority=0.7))
    assert back(kb, "fcl").content_hash == kb.content_hash


@every_format
@pytest.mark.parametrize("centres", [(-1.1, 0.7), (-1.37, 0.1234567, 1.61), (-1.9, -0.3, 0.0317, 2.2)])
def test_plateaus_and_centres_of_trapezoids_come_back_to_the_bit(builders, name, centres):
    base = builders["base"]()
    variable = Variable("e", "", -2.0, 2.5, centres, shape=Trapezoid(0.137))
    rules = tuple(Rule((j,), (1.0 + j, 2.0, 3.0)) for j in range(len(centres)))
    kb = replace(builders["kb"](), channels=(replace(base, inputs=(variable,), rules=rules),))
    assert back(kb, name).content_hash == kb.content_hash
    plain = imported([FORMATS[name][1](text) for text in texts(kb, name)], [Given("position")], kb.plant)
    if len(centres) > 2:  # without the complement, from the break points; rounding of their differences
        np.testing.assert_allclose(plain.channels[0].inputs[0].centres, centres, rtol=0.0, atol=1e-9)
        assert plain.channels[0].inputs[0].shape.plateau == pytest.approx(0.137, abs=1e-9)


@every_format
def test_the_story_of_each_rule_comes_back(kb, name):
    rules = [replace(r, firing=0.5 + k, rank=9 - k, confidence=0.1 * k) for k, r in enumerate(kb.channels[0].rules)]
    told = kb.with_channel(0, replace(kb.channels[0], rules=tuple(rules)))
    assert back(told, name).content_hash == told.content_hash


@every_format
def test_several_channels_with_integral_and_slew_come_back(several, name):
    assert back(several, name).content_hash == several.content_hash
    other = replace(several, slew=None)
    assert back(other, name).content_hash == other.content_hash != several.content_hash


@every_format
def test_mamdani_by_the_centre_average_is_carried(kb, name):
    average = replace(
        kb, inference=Inference(form="mamdani", output=OutputSets(defuzzifier="centre_average", width=0.3))
    )
    assert back(average, name).content_hash == average.content_hash


@every_format
@pytest.mark.parametrize("how", [Inference(form="tsukamoto"), Inference(form="mamdani")])
def test_other_weights_of_the_rules_are_refused(kb, name, how):
    with pytest.raises(ExchangeError, match="weighs rules otherwise than by their firing strengths"):
        texts(replace(kb, inference=how), name)
    with pytest.raises(ExchangeError, match="weighs rules otherwise"):
        complement(replace(kb, inference=how))


def test_fcl_refuses_what_the_standard_lacks(builders):
    with pytest.raises(ExchangeError, match="straight lines only, got gaussian terms for 'e'"):
        texts(builders["kb"]("gaussian"), "fcl")
    with pytest.raises(ExchangeError, match="constant conclusions only"):
        texts(builders["kb"](order=1), "fcl")
    base = replace(builders["base"](), name="max-speed")
    (text,) = texts(replace(builders["kb"](), channels=(base,)), "fcl")
    assert "FUNCTION_BLOCK van_der_pol_max_speed" in text  # what is no name there becomes one


# ------------------------------------------------------------------------------------------- what the files say


def evaluated_fis(text, x):
    """Weighted mean of a .fis file at points [n, n_inputs]: from the text, with nothing of the package."""
    kinds = {
        "trimf": lambda v, a, b, c: np.maximum(np.minimum((v - a) / (b - a), (c - v) / (c - b)), 0.0),
        "trapmf": lambda v, a, b, c, d: np.clip(np.minimum((v - a) / (b - a), (d - v) / (d - c)), 0.0, 1.0),
        "gaussmf": lambda v, s, c: np.exp(-((v - c) ** 2) / (2.0 * s * s)),
        "gbellmf": lambda v, a, b, c: 1.0 / (1.0 + np.abs((v - c) / a) ** (2.0 * b)),
    }
    blocks = dict(re.findall(r"\[(\w+)\]\n(.*?)(?=\n\n|\Z)", text, re.DOTALL))
    functions = {
        name: [(kind, np.array(v.split(), float)) for kind, v in re.findall(r":'(\w+)',\[(.*?)\]", block)]
        for name, block in blocks.items()
    }
    total, sums = np.zeros(len(x)), 0.0
    for line in blocks["Rules"].strip().splitlines():
        ins, outs, weight = re.match(r"([\d ]+), ([\d ]+) \((\d)\)", line).groups()
        grades = [
            kinds[functions[f"Input{k + 1}"][int(t) - 1][0]](x[:, k], *functions[f"Input{k + 1}"][int(t) - 1][1])
            for k, t in enumerate(ins.split())
        ]
        join = np.prod if "AndMethod='prod'" in text else np.min
        fired = float(weight) * join(grades, axis=0)
        said = []
        for k, t in enumerate(outs.split()):
            kind, v = functions[f"Output{k + 1}"][int(t) - 1]
            said.append(x @ v[:-1] + v[-1] if kind == "linear" else np.full(len(x), v[0]))
        total, sums = total + fired, sums + fired[:, None] * np.stack(said, axis=1)
    return sums / total[:, None]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    ("shape", "t_norm"),
    [("triangular", "product"), ("triangular", "minimum"), ("trapezoid", "product"), ("gaussian", "product"), ("bell", "product")],
)  # fmt: skip
def test_a_fis_file_gives_the_gains_of_the_knowledge_base(builders, shape, order, t_norm):
    kb = builders["kb"](shape, order, t_norm=t_norm, fallback=1e-6)
    wide = replace(kb.channels[0], low=(-50.0,) * 3, high=(50.0,) * 3)  # affine rules leave the usual box
    kb = kb.with_channel(0, wide)
    x = np.random.default_rng(2).uniform((-2.0, -4.0), (2.5, 4.0), (10_000, 2))
    (text,) = texts(kb, "fis")
    # Gains up to 12 from sums of 9 products and a division: rounding stays below 1e-13.
    np.testing.assert_allclose(evaluated_fis(text, x), kb.gains(x), rtol=0.0, atol=1e-12)


def test_what_a_file_leaves_to_others_is_said(builders, several):
    usual = plain_differences(builders["kb"]())
    assert len(usual) == 1
    assert "outside the taught ranges" in usual[0]
    kb = some_off(builders["kb"](authority=0.5, tick=0.1, slew=0.5))
    told = " ".join(plain_differences(kb))
    for words in ("fire less than 0.5", "0.5 of the way", "at most 0.5 of their box"):
        assert words in told
    assert any("error integral" in line for line in plain_differences(several, 1))
    assert complement(kb)["differences"]["position"] == list(plain_differences(kb))


@every_format
def test_edited_gains_and_ranges_are_taken_and_all_else_stays(builders, name):
    kb = builders["kb"](tick=0.1)
    (text,) = texts(kb, name)
    old = repr(kb.channels[0].rules[4].gains[1])
    assert text.count(old) == 1
    edited = back(kb, name, [text.replace(old, "1.25")])
    assert edited.channels[0].rules[4].gains[1] == 1.25
    assert edited.channels[0].rules[3] == kb.channels[0].rules[3]
    assert edited.channels[0].law == kb.channels[0].law


@every_format
def test_files_and_complement_of_different_knowledge_bases_are_refused(kb, several, name):
    document = complement(several)
    with pytest.raises(ExchangeError, match="2, got 1 files"):
        restored(document, [FORMATS[name][1](texts(kb, name)[0])])
    with pytest.raises(ExchangeError, match=r"the complement's names \['e', 'e_rate'\], got \['e', 'speed'\]"):
        restored(complement(kb), [FORMATS[name][1](texts(several, name)[0])])
    with pytest.raises(KnowledgeBaseError, match="expected the keys"):
        restored({"format": "sscq complement"}, [])


def remove_rules(rest):
    del rest["channels"][0]["rules"]


def number_for_a_channel(rest):
    rest["channels"][0] = 5


def number_for_the_inference(rest):
    rest["inference"] = 3


@pytest.mark.parametrize("damage", [remove_rules, number_for_a_channel, number_for_the_inference])
def test_a_damaged_complement_is_refused(kb, damage):
    document = complement(kb)
    damage(document["rest"])
    with pytest.raises(KnowledgeBaseError, match="the complement is damaged"):
        restored(document, [fis_reader.read(texts(kb, "fis")[0])])


# ---------------------------------------------------------------------------------------------- other people's files

THEIRS = """% hand written
[System]
Name='tank'
Type='sugeno'
NumInputs=1
NumOutputs=3
NumRules=2
AndMethod='min'
DefuzzMethod='wtaver'

[Input1]
Name='level error'
Range=[-1 1]
NumMFs=2
MF1='high':'trimf',[-1 1 3]
MF2='low':'trimf',[-3 -1 1]

[Output1]
Name='Kp'
Range=[0 10]
NumMFs=2
MF1='a':'constant',[2]
MF2='b':'constant',4

[Output2]
Name='Ki'
Range=[0 10]
NumMFs=1
MF1='a':'constant',[1]

[Output3]
Name='Kd'
Range=[0 10]
NumMFs=1
MF1='a':'constant',[0]

[Rules]
1, 2 1 1 (1) : 1
2, 1 1 1 (1) : 1
"""
GOOD = THEIRS.replace("'constant',4", "'constant',[4]")
NAMES = Given("level", inputs={"level error": "e"}, gains={"Kp": "kp", "Ki": "ki", "Kd": "kd"})


def test_a_file_of_somebody_else_becomes_a_knowledge_base():
    given = replace(NAMES, units={"e": "m"}, reference={"kp": 3.0}, high={"kd": 1.0}, law={"limits": [0.0, 1.0]})
    kb = imported([fis_reader.read(GOOD)], [given], "tank", tick=0.5, inference=Inference(fade=0.3))
    (base,) = kb.channels
    assert base.input_names == ("e",)
    assert base.inputs[0].labels == ("low", "high")  # in the order of their centres
    assert base.inputs[0].centres == (-1.0, 1.0)
    assert base.reference == (3.0, 5.0, 0.5)  # the middle of the range where nobody says more
    assert base.high == (10.0, 10.0, 1.0)
    assert (kb.inference.t_norm, kb.inference.fade, kb.tick, base.law) == ("minimum", 0.3, 0.5, {"limits": [0.0, 1.0]})
    np.testing.assert_allclose(kb.gains([[-1.0], [0.0], [0.5]])[:, 0], [2.0, 3.0, 3.5], rtol=1e-15)


def test_names_of_gains_have_to_be_given():
    with pytest.raises(ExchangeError, match=r"expected outputs kp, ki, kd .*gains=\{Kp: kp"):
        imported([fis_reader.read(GOOD)], [Given("level", inputs={"level error": "e"})], "tank")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "'constant',[4]",
            "'constant',4",
            r"line 23: expected MF2='label':'kind',\[numbers\], got \"'b':'constant',4\"",
        ),
        ("Type='sugeno'", "Type='mamdani'", "line 4: expected type 'sugeno' .*, got 'mamdani'"),
        ("AndMethod='min'", "AndMethod='einstein'", "line 8: expected AndMethod 'prod' or 'min', got 'einstein'"),
        ("'trimf',[-3 -1 1]", "'sigmf',[1 2]", "line 16: expected a membership function of kind trimf.*, got 'sigmf'"),
        ("[-3 -1 1]", "[-3 -1 0.5]", "line 15: expected term 'high' .* to rise from -1 to 0.5, where 'low' falls"),
        ("[-3 -1 1]", "[-3 1 -1]", "line 16: expected numbers of trimf in increasing order"),
        ("[-3 -1 1]", "[-3 system('ls') 1]", r"line 16: expected a number, got \"system"),
        ("2, 1 1 1 (1) : 1", "-2, 1 1 1 (1) : 1", "line 39: expected the number of one term of each input, 1 .. 2"),
        ("2, 1 1 1 (1) : 1", "2, 1 1 1 (0.5) : 1", "line 39: expected weight 1 .* or 0 .*, got 0.5"),
        ("2, 1 1 1 (1) : 1", "2, 1 1 1 (1)", r"line 39: expected a rule such as .*, got '2, 1 1 1 \(1\)'"),
        ("NumRules=2", "NumRules=3", "line 37: expected 3 rules"),
        ("[Rules]", "[Laws]", "line 37: expected a section"),
        ("Range=[-1 1]", "Range=[1 -1]", r"line 13: expected Range=\[low high\] with low < high"),
        ("MF1='a':'constant',[2]", "MF1='a':'constant',[inf]", "line 22: expected a finite number, got inf"),
    ],
)
def test_fis_complaints_name_the_line(old, new, message):
    assert old in GOOD
    with pytest.raises(ExchangeError, match=message):
        imported([fis_reader.read(GOOD.replace(old, new, 1))], [NAMES], "tank")


FCL = """FUNCTION_BLOCK tank
VAR_INPUT e : REAL; END_VAR
VAR_OUTPUT kp : REAL; ki : REAL; kd : REAL; END_VAR
FUZZIFY e
    TERM low := (-1, 1) (1.0, 0); (* nested
    over lines *)
    TERM high := (-1, 0) (1, 1);
END_FUZZIFY
DEFUZZIFY kp TERM a := 2; TERM b := 4.0e0; METHOD : COGS; DEFAULT := 3; RANGE := (0 .. 10); END_DEFUZZIFY
DEFUZZIFY ki TERM a := 1; METHOD : COGS; DEFAULT := NC; RANGE := (0 .. 10); END_DEFUZZIFY
DEFUZZIFY kd TERM a := -0.5; METHOD : COGS; RANGE := (-1 .. 10); END_DEFUZZIFY
RULEBLOCK all
    AND : PROD;
    ACCU : NSUM;
    RULE 1 : IF e IS low THEN kp IS a, ki IS a, kd IS a;
    RULE 2 : if (e is high) then kp is b, ki is a, kd is a with 1.0;
END_RULEBLOCK
END_FUNCTION_BLOCK
"""


def test_fcl_of_somebody_else_becomes_a_knowledge_base():
    kb = imported([fcl_reader.read(FCL)], [Given("level", ranges={"e": (-2.0, 2.0)})], "tank")
    (base,) = kb.channels
    assert base.reference == (3.0, 5.0, 4.5)
    assert (base.inputs[0].low, base.inputs[0].high) == (-2.0, 2.0)
    np.testing.assert_allclose(kb.gains([[0.0], [2.0]]), [[3.0, 1.0, -0.5], [4.0, 1.0, -0.5]], rtol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ACCU : NSUM;", "ACCU : MAX;", "line 16: expected a singleton of its own for each rule"),
        ("METHOD : COGS", "METHOD : COG", "line 9: expected 'COGS', got 'COG'"),
        ("AND : PROD", "AND : BDIF", "line 13: expected 'PROD' or 'MIN', got 'BDIF'"),
        ("e IS low", "e IS NOT low", "line 15: expected a term: rules have no NOT, got 'NOT'"),
        ("e IS low", "e IS middle", "line 15: expected a term of 'e': low, high, got 'middle'"),
        ("kp IS a, ki IS a, kd IS a;", "kp IS a, ki IS a;", "line 15: expected a conclusion for each of kp, ki, kd"),
        ("with 1.0", "with 0.3", "line 16: expected WITH 1 .*, got 0.3"),
        ("TERM a := 2;", "TERM a := (1, 0) (2, 1);", "line 9: expected a singleton"),
        ("(1, 1);", "(1, 1) $;", r"line 7: expected a word, a number or a sign of the language, got '\$'"),
        ("END_FUNCTION_BLOCK", "", "line 19: expected .*, got the end of the file"),
        ("(-1, 0) (1, 1)", "(-0.5, 0) (1, 1)", "line 7: expected term 'high' of 'e' to rise from -1 to 1"),
    ],
)
def test_fcl_complaints_name_the_line(old, new, message):
    assert old in FCL
    with pytest.raises(ExchangeError, match=message):
        imported([fcl_reader.read(FCL.replace(old, new, 1))], [Given("level")], "tank")


@pytest.mark.parametrize("name", FORMATS)
def test_a_gain_that_stands_still_has_a_range_in_files_and_none_afterwards(kb, name):
    """Other programs refuse ranges without width; what was taken for one is not taken back."""
    base = kb.channels[0]
    rules = tuple(replace(rule, gains=(*rule.gains[:2], 0.0)) for rule in base.rules)
    ends = {word: (*getattr(base, word)[:2], 0.0) for word in ("low", "high", "reference")}
    still = kb.with_channel(0, replace(base, rules=rules, **ends))
    (text,) = texts(still, name)
    (output,) = [o for o in FORMATS[name][1](text).outputs if o.name == base.gain_names[2]]
    assert (output.low, output.high) == (0.0, 1.0)
    assert back(still, name) == still
