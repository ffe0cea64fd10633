"""Claims of verdicts against what came afterwards: what counts as covered and as kept, and the studies' pages."""

from dataclasses import replace

import pytest

from experiments.starting.opening import configured
from experiments.studies.afterwards import claims
from experiments.studies.afterwards.claims import Claim
from experiments.studies.afterwards.fresh import StudyCase
from experiments.studies.engine.template import Template
from sscq.verdict.bootstrap import Change

GOOD = Claim(
    "fopdt",
    1,
    "gain table",
    True,
    Change(-0.2, -0.25, -0.15),
    Change(-0.16, -0.17, -0.15),
    Change(-0.1, -0.2, 0.0),
    0,
    (1, 2),
)


def test_a_claim_is_covered_where_its_interval_holds_what_was_found():
    assert GOOD.covered
    assert not replace(GOOD, found=Change(-0.14, -0.15, -0.13)).covered
    assert not replace(GOOD, found=Change(-0.26, -0.27, -0.24)).covered


@pytest.mark.parametrize(
    "worse", [{"found": Change(0.01, -0.1, 0.1)}, {"tail": Change(0.01, -0.1, 0.1)}, {"failures": (3, 2)}]
)
def test_a_recommendation_that_is_worse_afterwards_is_marked(worse):
    assert GOOD.kept
    assert "WORSE" not in GOOD.row()[7]
    lost = replace(GOOD, **worse)
    assert not lost.kept
    assert "WORSE" in lost.row()[7]
    assert replace(lost, recommended=False).kept  # nobody was told to use it


def test_what_was_claimed_and_found(finished, run):
    case = StudyCase("van_der_pol-small", 0, (), 8)
    found = claims.claim(finished.folder, case)
    verdict = run.judgement.verdict
    assert found.recommended == (verdict.recommended != "fixed")
    name = verdict.recommended if found.recommended else "knowledge_base"
    assert found.claimed == verdict.comparisons[name].headline
    assert found.found.low <= found.found.value <= found.found.high


def test_a_page_counts_its_claims():
    worse = replace(GOOD, found=Change(0.5, 0.4, 0.6))
    found = {"linear": [GOOD, replace(GOOD, recommended=False)], "traps": [worse]}
    text = claims.page(Template.of("safety"), found, "1a2b (3)")
    assert "covers the change found afterwards in 2 of 3 designs" in text
    assert "recommended in 2; of these 1 were worse" in text
    assert "| linear | 2 | 1 | 0 | 2 |" in text
    assert "| traps | 1 | 1 | 1 | 0 |" in text
    assert text.count("| fopdt | 1 |") == 3
    assert "{{" not in text + claims.page(Template.of("coverage"), found, "")


def test_designs_that_are_to_be_safe_are_sixty_and_their_words_are_settings():
    groups = claims.safety_cases(Template.of("safety"))
    cases = [case for several in groups.values() for case in several]
    assert len({case.name for case in cases}) == len(cases) == 60
    assert {name: len(several) for name, several in groups.items()}["linear"] == 30
    for words in {case.words for case in cases}:
        config = configured("design", [*words, "output=runs/safety/x"])
        assert config.budget.evaluations == 1500


def test_words_choose_groups_and_the_page_is_written_once_all_is_recorded(own_folder, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(StudyCase, "designed", lambda case, folder: asked.append(case) or folder / case.name)
    monkeypatch.setattr(claims, "claim", lambda _, case: replace(GOOD, case=case.title, seed=case.seed))
    claims.safety(["traps"])
    assert [case.name for case in asked] == [f"{trap}-{k}" for trap in ("fopdt_trap", "fitness_trap") for k in range(5)]
    assert "covered 10 of 10; recommended 10, of these worse afterwards 0" in capsys.readouterr().out
    assert not list(own_folder.rglob("*.md"))
    claims.safety(["traps"])
    assert len(asked) == 10  # none again
    asked.clear()
    claims.coverage([])
    assert len(asked) == 36
    page = (own_folder / "docs/studies/verdict_coverage.md").read_text(encoding="utf-8")
    assert "afterwards in 36 of 36 designs" in page
    assert asked[0].words == ("plant=van_der_pol", "budget=small")
