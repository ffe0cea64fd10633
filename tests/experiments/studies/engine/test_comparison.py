"""Comparisons of plants: what is declared, the words of the command, the aim, tables and sentences."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml

import plants
from experiments.runtime.errors import UserError
from experiments.studies.engine import comparison as tables
from experiments.studies.engine.changes import Aim, near_the_least, reached
from experiments.studies.engine.comparison import FITNESS, Column, ComparisonText, PairedRollouts
from experiments.studies.engine.declaration import digest_of_situations
from experiments.studies.suspension.comparison import SuspensionStudy, aim_of
from sscq.fitness import Fitness
from sscq.verdict.bootstrap import Change

STUDY = SuspensionStudy()
TITLES = {"rival_a": "law a", "fixed": "fixed PID", "knowledge_base": "knowledge base", "oracle": "oracle"}
AIM = Aim("comfort", 0.05, ("grip", "stroke"), ("rival_a",))
AIM_OF = {"better": "iae", "share": 0.05, "no_worse": [], "best_of": ["rule"]}
WORDS = {"comfort": "discomfort", "grip": "slip", "stroke": "stroke"}


# ----------------------------------------------------------------------------------------------------- declaration


@pytest.fixture
def given():
    return {
        "declared": "2026-01-01", "rule": "as first written", "history": ["2026-01-01, first written"],
        "situations": {"van_der_pol": digest_of_situations(plants.get("van_der_pol"))},
        "aim": AIM_OF,
        "designs": {"first-0": {"plant": "van_der_pol", "seed": 0}, "first-1": {"plant": "van_der_pol", "seed": 1}},
    }  # fmt: skip


def write(path, content):
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_a_declaration_is_read_and_told(given, tmp_path):
    path = write(tmp_path / "study.yaml", given)
    found = STUDY.declaration(path)
    assert (found.file, found.digest) == ("study.yaml", hashlib.sha256(path.read_bytes()).hexdigest())
    assert aim_of(found) == Aim("iae", 0.05, (), ("rule",))
    assert found.lines() == ["> as first written", "", "- 2026-01-01, first written"]


SAID = (
    "import plants; from experiments.studies.engine.declaration import digest_of_situations as said; "
    "print({n: said(plants.get(n)) for n in plants.names(tasks=True)})"
)


def test_situations_are_the_same_for_the_linear_algebra_of_another_processor():
    """Declared anywhere, they are found everywhere: with the oldest kernels, which round differently, and with our own."""
    oldest = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}
    call = [sys.executable, "-W", "ignore", "-c", SAID]
    found = [
        subprocess.run(call, env={**os.environ, **other}, check=True, capture_output=True, text=True).stdout
        for other in ({}, oldest)
    ]
    assert found[0] == found[1]
    assert "van_der_pol" in found[0]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("situations", {"van_der_pol": "0" * 64}, "not those declared on 2026-01-01"),
        ("situations", {}, "missing or unknown: van_der_pol"),
        ("aim", {"share": 0.05}, "best_of"),
        ("aim", AIM_OF | {"better": "iaee"}, "aim, plant 'van_der_pol': no measure 'iaee'; did you mean 'iae'"),
        ("aim", AIM_OF | {"best_of": ["fixd"]}, "controller 'fixd'.*did you mean 'fixed'"),
        ("designs", {"a": {"plant": "van_der_pol"}}, "seed"),
        ("more", 1, "missing or unknown: more"),
    ],
)
def test_other_declarations_are_refused(given, tmp_path, key, value, message):
    with pytest.raises(UserError, match=message):
        STUDY.declaration(write(tmp_path / "study.yaml", given | {key: value}))


def test_words_are_its_own_or_the_designs(given, tmp_path):
    declared = STUDY.declaration(write(tmp_path / "study.yaml", given))
    chosen = STUDY.options(["first-0", "folder=x", "network.terms=5"], declared)
    assert (chosen.designs, str(chosen.folder), chosen.overrides) == (("first-0",), "x", ("network.terms=5",))
    chosen = STUDY.options([], declared)
    assert (chosen.designs, str(chosen.folder)) == (("first-0", "first-1"), "runs/suspension")
    for word, message in (
        ("frst-0", "did you mean 'first-0'"),
        ("seed=1", "own affair"),
        ("situations.delay=1", "own"),
    ):
        with pytest.raises(UserError, match=message):
            STUDY.options([word], declared)


# ------------------------------------------------------------------------------------------------------------- the aim


@pytest.mark.parametrize(
    ("comfort", "grip", "expected"),
    [
        ((-0.08, -0.09, -0.07), (0.0, -0.01, 0.01), "met"),
        ((-0.06, -0.09, -0.03), (-0.1, -0.2, -0.01), "met on the mean, not reliably"),
        ((-0.08, -0.09, -0.07), (0.02, 0.01, 0.03), "not met: slip reliably higher"),
        ((-0.04, -0.05, -0.03), (0.02, 0.01, 0.03), "not met, and slip reliably higher"),
        ((-0.04, -0.06, -0.03), (0.0, -0.01, 0.01), "not met"),
    ],
)
def test_the_aim_s_words(comfort, grip, expected):
    assert AIM.outcome([Change(*comfort), Change(*grip), Change(0.0, -0.1, 0.1)], WORDS) == expected


def test_all_that_got_worse_is_named():
    worse = Change(0.02, 0.01, 0.03)
    assert AIM.outcome([Change(-0.1, -0.1, -0.1), worse, worse], WORDS) == "not met: slip and stroke reliably higher"


@pytest.mark.parametrize(
    ("gain", "expected"), [((0.3, 0.2), "met"), ((0.3, 0.1), "met on the mean, not reliably"), ((0.1, 0.0), "not met")]
)
def test_what_was_reached(gain, expected):
    assert reached(*gain, 0.2) == expected


def test_whoever_is_near_the_least_is_as_good():
    """The least may be negative: then a distance counts, not a factor."""
    assert near_the_least({"a": 1.04, "b": 1.0, "c": 1.02}, times=1.03) == ["b", "c"]
    assert near_the_least({"a": -0.995, "b": -1.0, "c": -0.98}, by=0.01) == ["a", "b"]


# -------------------------------------------------------------------------------------------------------------- tables


def rollouts(better, worse=1.0):
    """Six seeds in two situations: the law's, and `better` times its discomfort at `worse` times its slip."""
    base = {name: 1.0 + 0.2 * np.random.default_rng(k).random((6, 2)) for k, name in enumerate((*WORDS, FITNESS))}
    ours = base | {"comfort": better * base["comfort"], "grip": worse * base["grip"], FITNESS: better * base[FITNESS]}
    groups = {"taught": ("a", "b"), "drawn": ("c", "d")}
    found = {(name, group): base if name == "rival_a" else ours for name in TITLES for group in groups}
    metrics = {"recommended": "fixed", "sentence": "Use the fixed gains.", "rules": {"equal": 1, "free": 2},
               "controllers": {"oracle": {"evaluations": 430}}}  # fmt: skip
    return ComparisonText(
        PairedRollouts(found, TITLES, (metrics,), groups), AIM, {"taught": "Taught", "drawn": "Drawn"}, WORDS
    )


def test_what_is_known_of_made_up_rollouts_is_said():
    """Every rollout differs by the same factor, so the interval closes on it."""
    told = rollouts(0.9)
    (change, *_) = told.changes("fixed", "taught")
    np.testing.assert_allclose((change.value, change.low, change.high), -0.1, rtol=1e-9)
    assert "\n".join(tables.outcomes(told, ["fixed", "knowledge_base", "unknown"])).count("**met**") == 4
    assert tables.conclusion(told, ["fixed"]) == (
        "**The fixed PID meets the aim in taught and drawn situations. Of what was designed, use the fixed PID.**"
    )
    assert "does not meet the aim in taught and drawn ones" in tables.conclusion(rollouts(0.97), ["fixed"])
    assert tables.designs(told) == ["- Design 0: Use the fixed gains. Rules left: 1 at equal travel, 2 at free travel."]
    (taught, _) = tables.by_fitness(told)
    assert "to be used alike: fixed PID, knowledge base." in taught
    assert "fixed PID's J by +0.0 % (evaluations, all situations together: 430): a schedule" in taught


def test_a_table_has_all_controllers_and_no_change_of_the_base():
    told = rollouts(0.9)
    rows = tables.table(told, "taught", WORDS, [Column("stroke", "travel", ".1f", 100.0, " %")])
    assert len(rows) == 2 + len(TITLES)
    assert rows[0].endswith("| stroke | change | travel | J |")
    assert rows[2].startswith("| law a |")
    assert rows[2].count("|  |") == 3
    (fixed,) = (row for row in rows if "fixed PID" in row)
    assert "-10.0 % [-10.0, -10.0]" in fixed
    assert f"| {100 * told.judged.of('fixed', 'taught', 'stroke').mean():.1f} % |" in fixed


def test_losses_stand_beside_wins():
    """Less discomfort, more slip in every situation."""
    told = rollouts(0.9, 1.1)
    taught, drawn = tables.lost(told, "fixed")
    assert taught == "- taught, of 2: discomfort in 0, slip in 2 (a; b), stroke in 0"
    assert drawn.startswith("- drawn, of 2:")
    rows = tables.by_situation(told, ["fixed"], WORDS)
    assert len(rows) == 2 + 4
    assert rows[2].startswith("| a (taught) | -10.0 % [-10.0, -10.0] | **+10.0 % [+10.0, +10.0]** |")
    assert "not met: slip reliably higher" in tables.outcomes(told, ["fixed"])[0]


def test_the_best_law_is_that_of_the_lowest_fitness():
    told = rollouts(0.9)
    assert told.judged.best(["rival_a", "fixed"], "taught") == "fixed"
    assert told.base("drawn") == "rival_a"
    assert told.judged.known() == ["rival_a", "fixed", "knowledge_base", "oracle"]


def test_fitness_of_rollouts_is_that_of_their_measures():
    """As the fitness says of each: weights over references, and a graded penalty where one diverged halfway."""
    rows = {"diverged_at": np.array([[np.nan, 5.0], [np.nan, np.nan]]), "iae": np.array([[1.0, 2.0], [3.0, 4.0]])}
    fitness = Fitness(error_weight=2.0, entropy_weight=0.0, diverged=100.0)
    np.testing.assert_allclose(tables._fitness(fitness, rows, [10.0, 10.0]), [[2.0, 150.0], [6.0, 8.0]])
