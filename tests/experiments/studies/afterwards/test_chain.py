"""Every rung of a design afterwards: its changes against the fixed gains, what its rules say, the counts and the page."""

import csv
from dataclasses import replace

import pytest

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.starting.opening import configured
from experiments.studies.afterwards import chain
from experiments.studies.afterwards.chain_page import COLUMNS, ChainDesign, cells, counts, older_counts, page, printed
from experiments.studies.afterwards.fresh import StudyCase
from experiments.studies.engine.template import Template
from flcs import KnowledgeBase

TEMPLATE = Template.of("chain")


def row(rung, value, *, recommended=False, **others):
    """A rung's row, all of whose measures change by a value but those that are given."""
    names = ("J", "error", "entropy", "travel", "tail")
    changes = {
        n: {"value": v, "low": v - 0.1, "high": v + 0.1} for n, v in {**dict.fromkeys(names, value), **others}.items()
    }
    more = {"new_failures": 0, "failures": 0, "sensitivity": 1.5, "transient_sensitivity": None}
    return {"rung": rung, "title": rung.upper(), "recommended": recommended, **changes, **more}


RULES = {"rules": 5, "untrue_sentences": 1, "untrue_words": 2, "errors": 3, "told_by_two": 0.9}
ONE = ChainDesign(
    "duffing", "small", 0,
    (row("two_degree", -0.1), row("imitation", 0.2), row("knowledge_base_direct", -0.25),
     row("knowledge_base", -0.2, recommended=True, error=0.1)),
    {"knowledge_base": RULES},
)  # fmt: skip
OTHER = ChainDesign(
    "duffing", "small", 1, (row("two_degree", -0.3), row("knowledge_base", -0.1)), {"knowledge_base": RULES}
)


# ----------------------------------------------------------------------------------------------------------- designs


def test_the_designs_are_those_of_the_head_or_of_the_words():
    every = chain.cases(TEMPLATE.head)
    assert len({case.name for case in every}) == len(every) == 70
    some = chain.cases(TEMPLATE.head, ["two_tanks,cstr", "1,0", "small"])
    assert [case.name for case in some] == ["two_tanks-small-0", "two_tanks-small-1", "cstr-small-0", "cstr-small-1"]
    assert [case.name for case in chain.cases(TEMPLATE.head, ["cstr", "2"])] == ["cstr-small-2", "cstr-standard-2"]
    for words in {case.words for case in every if case.title.startswith("two_tanks")}:
        assert configured("design", list(words)).ladder.further == ["direct"]


@pytest.mark.parametrize("words", [["cstrs"], ["cstr", "7"], ["cstr", "0", "large"]])
def test_other_words_are_refused(words):
    with pytest.raises(UserError, match=words[-1]):
        chain.cases(TEMPLATE.head, words)


# ---------------------------------------------------------------------------------------------------------- outcomes


def older(folder, name, title, times=1, *more):
    """A copy of a run, as that of an older release which recommends the fixed gains, `times` over, as another rung."""
    place = folder.parents[1] / "before" / folder.name
    place.mkdir(parents=True)
    for file in ("config.json", "metrics.json", "knowledge_base.json"):
        (place / file).write_bytes((folder / file).read_bytes())
    metrics = formats.read_json(place / "metrics.json")
    of_fixed = metrics["controllers"]["fixed"]
    metrics["controllers"][name] = of_fixed | {"title": title, "theta": [*of_fixed["theta"] * times, *more]}
    formats.write_json(place / "metrics.json", metrics | {"recommended": name})
    return place


def test_all_rungs_but_the_fixed_gains_have_a_row(finished, run):
    found = chain.outcome(finished.folder, 8)
    rungs = [one["rung"] for one in found["rows"]]
    assert rungs == [one.name for one in run.group if one.name not in {"open_loop", "fixed", "oracle"}]
    assert set(found["rules"]) == {"knowledge_base"}
    assert sum(one["recommended"] for one in found["rows"]) == (run.judgement.verdict.recommended != "fixed")
    for one in found["rows"]:
        assert one["J"].low <= one["J"].value <= one["J"].high
        assert tuple(one["held_against"]) == run.judgement.verdict.comparisons[one["rung"]].reasons


@pytest.mark.parametrize(
    "used",
    [
        ("fixed", "old PID"),
        ("two_degree", "two-degree-of-freedom PID", 1, 1.0),
        ("table", "gain table over the error's magnitude", 2, 1.0),
    ],
)
def test_an_older_release_is_judged_in_the_same_draws(finished, used):
    """Its controllers are this run's here: the knowledge base, and the fixed gains in the form of several rungs."""
    today = chain.outcome(finished.folder, 8)
    found = chain.older_outcome(finished.folder, older(finished.folder, *used), 8)
    by_name = {one["rung"]: one for one in (*today["rows"], *found["rows"])}
    assert by_name["knowledge_base_before"]["J"] == by_name["knowledge_base"]["J"]
    assert found["rules"]["knowledge_base_before"] == today["rules"]["knowledge_base"]
    assert by_name["before"]["title"] == used[1]
    assert by_name["before"]["J"].value == pytest.approx(0.0, abs=1e-9)


def test_an_older_gain_table_over_what_the_plant_has_not_is_refused(finished):
    before = older(finished.folder, "table", "gain table over the moon", 2, 1.0)
    with pytest.raises(UserError, match="van_der_pol has no gain table over the moon"):
        chain.older_outcome(finished.folder, before, 8)


def test_a_sentence_with_an_untrue_word_is_untrue(finished):
    file = finished.folder / "knowledge_base.json"
    metrics = {"told_by_two_rules": {"equal": [0.8, None, 0.9]}}
    true = chain.rules_of(finished.folder, metrics)
    assert (true["rules"], true["untrue_sentences"], true["untrue_words"]) == (8, 0, 0)
    assert true["told_by_two"] == pytest.approx(0.85)
    kb = KnowledgeBase.load(file)
    (base,) = kb.channels
    error = replace(base.inputs[0], centres=(0.1, 0.5, 1.0))  # "negative" lies above zero, and zero next to it
    kb.with_channel(0, replace(base, inputs=(error, base.inputs[1]))).save(file)
    untrue = chain.rules_of(finished.folder, {})
    assert untrue["untrue_sentences"] > 0
    assert untrue["untrue_sentences"] == sum(rule.on and rule.terms[0] in (0, 1) for rule in base.rules)
    assert untrue["errors"] >= untrue["untrue_words"] == 2
    assert untrue["told_by_two"] is None


# -------------------------------------------------------------------------------------------------------------- page


def test_the_links_of_the_chain_are_counted():
    found = counts([ONE, OTHER])
    assert (found["n"], found["recommended"], found["of_rules"]) == (2, 1, 1)
    assert (found["worse_mean"], found["worse_error"], found["worse_tail"], found["failing"]) == (0, 1, 0, 0)
    assert (found["above_simpler"], found["above_imitation"], found["imitated"]) == (1, 1, 1)
    assert (found["above_direct"], found["direct"]) == (0, 1)


def test_the_page_has_a_section_for_each_budget():
    standard = replace(
        OTHER, plant="pendulum", budget="standard", rules={"knowledge_base": RULES | {"told_by_two": None}}
    )
    text = page(TEMPLATE, [ONE, OTHER, standard], "1a2b (3)")
    small, large = text.split("## budget=small")[1].split("## budget=standard")
    of_j, of_error = small.split("Of the tracking error")
    assert "| duffing | -20.0 [-30.0, -10.0] | +20.0 | -25.0 | -15.0 [-20.0, -10.0] |" in of_j
    assert "| duffing | -20.0 [-30.0, -10.0] | +20.0 | -25.0 | +0.0 [-10.0, +10.0] |" in of_error
    assert "| duffing | 0 | KNOWLEDGE_BASE | -20.0 % [-30.0, -10.0] | +10.0 % [+0.0, +20.0] WORSE |" in small
    assert "| duffing | 1 | fixed PID | - |" in small
    assert "| all |  | 10 | 2 (20 %) | 4 | 6 | 90.0 % |" in small
    assert "| pendulum | -30.0 | -10.0 |" in large
    assert "| all |  | 5 | 1 (20 %) | 2 | 3 | - |" in large
    assert "older release" not in text
    assert "{{" not in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120


def test_the_page_tells_why_a_knowledge_base_is_not_used():
    told = [OTHER.rows[1] | {"held_against": held} for held in (["it leaks", "it squeaks"], [])]
    unused = [replace(OTHER, seed=seed, rows=(row,)) for seed, row in enumerate((*told, OTHER.rows[1]), 1)]
    text = page(TEMPLATE, [ONE, *unused], "").split("| held against it |")[1].split("What the rules")[0]
    start = "KNOWLEDGE_BASE | -10.0 % [-20.0, +0.0] | -10.0 % [-20.0, +0.0] |"
    assert f"| duffing | 1 | {start} it leaks; it squeaks |" in text
    assert f"| duffing | 2 | {start} nothing: what is used is simpler, its J within 3 % |" in text
    assert f"| duffing | 3 | {start} not on record |" in text
    assert "| duffing | 0 |" not in text
    assert "held against it" not in page(TEMPLATE, [ONE], "")


def test_what_an_older_release_would_use_stands_beside_what_is_used_today():
    was = replace(ONE, rows=(*ONE.rows, row("before", -0.15), row("knowledge_base_before", -0.3)))
    fixed = replace(OTHER, rows=(*OTHER.rows, row("before", 0.05), row("knowledge_base_before", 0.1)))
    found = older_counts([was, fixed])
    assert (found["n"], found["used"], found["bases"]) == (2, 2, 1)
    assert "| duffing | 0 | BEFORE | KNOWLEDGE_BASE | -15.0 → -20.0 % | -15.0 → +10.0 % |" in found["table"][2]
    assert "| duffing | 1 | BEFORE | fixed PID | +5.0 → +0.0 % |" in found["table"][3]
    means = "J in the mean: used -5.0 → -10.0 %, knowledge base -10.0 → -15.0 %."
    assert f"better today in 2 of 2 designs, the knowledge base in 1; {means}" in " ".join(
        page(TEMPLATE, [was, fixed], "").split()
    )


@pytest.fixture
def judged(own_folder, monkeypatch):
    """Names of the designs that were made; each has the same rows, and an older release's has one."""
    made = []
    monkeypatch.setattr(StudyCase, "designed", lambda case, folder: made.append(case.name) or folder / case.name)
    monkeypatch.setattr(chain, "outcome", lambda *_, **__: {"rows": list(ONE.rows), "rules": dict(ONE.rules)})
    older = {"rows": [row("before", -0.15), row("knowledge_base_before", 0.1)], "rules": {}}
    monkeypatch.setattr(chain, "older_outcome", lambda *_, **__: older)
    return made


def test_a_budget_that_is_whole_is_on_the_page_and_in_the_table(own_folder, judged, capsys):
    chain.main(["duffing", "0", "small"])
    assert "knowledge_base *" in capsys.readouterr().out
    assert not (own_folder / TEMPLATE.head["page"]).exists()
    chain.main([",".join(TEMPLATE.head["plants"]), "0,1,2", "small"])
    assert len(judged) == 30  # the first one once
    text = (own_folder / TEMPLATE.head["page"]).read_text(encoding="utf-8")
    assert text.startswith("# Whether the chain")
    assert "## budget=small" in text
    assert "## budget=standard" not in text
    chain.main([])
    assert len(judged) == 70
    with (own_folder / TEMPLATE.head["table"]).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 70 * len(ONE.rows)
    assert tuple(rows[0]) == COLUMNS
    assert (rows[3]["rung"], rows[3]["recommended"], rows[3]["error"], rows[3]["tail_low"]) == (
        "knowledge_base", "1", "0.1", "-0.3",
    )  # fmt: skip
    assert len(cells(ONE)) == len(printed(ONE).splitlines()) - 2
    assert "## budget=standard" in (own_folder / TEMPLATE.head["page"]).read_text(encoding="utf-8")


def test_an_older_release_that_comes_later_is_added_and_stays(own_folder, judged, capsys):
    before = own_folder / TEMPLATE.head["before"] / "duffing-small-0"
    chain.main(["duffing", "0", "small"])
    assert "before" not in capsys.readouterr().out
    before.mkdir(parents=True)
    chain.main(["duffing", "0", "small"])
    before.rmdir()
    capsys.readouterr()
    chain.main(["duffing", "0", "small"])
    assert "knowledge_base_before" in capsys.readouterr().out
    assert len(judged) == 2
