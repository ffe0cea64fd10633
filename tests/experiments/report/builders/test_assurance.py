"""The worst case and the certificate in the words of the page and of the terminal."""

from dataclasses import replace

import pytest

from experiments.pipeline.assurance import stability
from experiments.pipeline.assurance.stability import StabilityFinding
from experiments.pipeline.assurance.worst_cases import WorstFinding
from experiments.report import answer
from experiments.report.builders import assurance, evidence
from experiments.report.page import render

WORST = WorstFinding(
    costs={"knowledge_base": 3.19, "fixed": 3.4}, diverged_at={"knowledge_base": None, "fixed": 2.5},
    broken={"knowledge_base": ["top speed"], "fixed": []}, median_cost=0.9, searched=400, drawn=400,
)  # fmt: skip


def judged(run, recommended="knowledge_base", **changes):
    """The case with another recommendation, worst cases and findings."""
    verdict = replace(run.judgement.verdict, recommended=recommended)
    return replace(run.case, judgement=replace(run.judgement, verdict=verdict, **changes))


def test_the_worst_case_beside_the_fixed_gains_there(run):
    own = WorstFinding(costs={"fixed": 3.43}, diverged_at={"fixed": None}, broken={"fixed": []})
    text = assurance.worst_case(judged(run, worst_cases={"knowledge_base": WORST, "fixed": own})).replace("\u00a0", " ")
    assert text.startswith(
        "knowledge base: J 3.19, breaks the limit of top speed (fixed PID there: loop lost at 2.50 s, the worst found of it). "
        "No loop lost (position outside −100 … 100 m or velocity outside −1000 … 1000 m/s) in 800 situations (400 searched, 400 "
        "drawn): by those drawn, at most"
    )
    kept = replace(WORST, diverged_at={"knowledge_base": None, "fixed": None})
    text = assurance.worst_case(judged(run, worst_cases={"knowledge_base": kept, "fixed": own}))
    assert "(fixed PID there: J 3.40); the worst found of the fixed PID: J 3.43. No" in text
    failing = replace(WORST, failures=7, drawn_failures=2, skipped=12)
    text = assurance.worst_case(judged(run, worst_cases={"knowledge_base": failing, "fixed": own}))
    assert "Loop lost in 7 of 800 situations (400 searched, 400 drawn), of them in 2 drawn ones" in text
    assert text.endswith("12 were skipped: the plant cannot start or rest there.")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"outcome": stability.NONE, "certified_authority": 0.625},
         "function exists; a quadratic Lyapunov function exists where rules move the gains by 0.625 of their way"),
        ({"outcome": stability.NOT_FOUND, "certified_authority": 0.625},
         "function was found; a quadratic Lyapunov function exists where rules move the gains by 0.625 of their way"),
        ({"outcome": stability.NONE, "authority": None}, "no common quadratic Lyapunov function exists"),
        ({"outcome": stability.NONE}, "no common quadratic Lyapunov function exists, at no authority"),
        ({"outcome": stability.NONE, "certified_authority": 0.0}, "a quadratic Lyapunov function exists for the reference gains alone"),
        ({"outcome": stability.HOLDS, "decay": 0.25}, "one quadratic Lyapunov function serves 30 linearised loops, however"),
        ({"outcome": stability.UNSTABLE, "slowest": "rule 1 at rest"}, "rule 1 at rest is unstable even while"),
        ({"outcome": stability.UNSTABLE, "slowest": "rule 1", "text": "..."}, "(it is asked of every rule at every point, also where"),
        ({"outcome": stability.STABLE, "decay": 0.25}, "each of 30 linearised loops is stable"),
        ({"outcome": stability.RESTING}, "no mode of 30 linearised loops grows, but not every one decays, as with no ki"),
        ({"outcome": stability.RESTING, "slowest": "rule 1", "text": "...", "certified_authority": 0.5},
         "(rule 1 decays least): while they move as far as here nothing is proved; a quadratic Lyapunov function exists where"),
        ({"outcome": stability.NOT_MADE, "reason": "there is no rest"}, "not asked, because there is no rest"),
    ],
)  # fmt: skip
def test_stability_in_a_sentence(run, changes, words):
    found = replace(StabilityFinding("", 30, authority=1.0), **changes)
    assert words in assurance.steadiness(judged(run, stability={"knowledge_base": found}))


def test_what_was_asked_is_no_longer_untested(run):
    case = run.case
    assert not any("sscq" in text for text in evidence.evidence(case).untested)
    nothing = evidence.evidence(judged(run, stability={}, worst_cases={}))
    assert nothing.worst_case == nothing.stability == ""
    assert any(text.startswith("the worst of all declared ranges (sscq worst)") for text in nothing.untested)
    assert any(text.startswith("stability while gains move (sscq certify)") for text in nothing.untested)
    refused = {"knowledge_base": WorstFinding(reason="no start"), "fixed": WorstFinding(reason="no start")}
    without = {"knowledge_base": StabilityFinding(stability.NOT_MADE, reason="no rest")}
    told = evidence.evidence(judged(run, worst_cases=refused, stability=without))
    assert told.worst_case == "not searched, because no start"
    assert "the worst of all declared ranges (sscq worst): no start" in told.untested
    assert "stability while gains move (sscq certify): no rest" in told.untested


def test_the_page_and_the_terminal_say_both_and_fold_the_rest(run, data):
    page, told = render(data), data.evidence
    assert told.worst_case in page.replace("&#x27;", "'")
    assert "Worst found in the declared ranges" in page
    assert "The worst cases and the certificates in full" in page
    assert dict(told.details)["Worst case that a search for the fixed PID found"].count("The situation: reference")
    assert "Stability of the knowledge base" in dict(told.details)
    lines = answer.answer(data, run.refined["equal"].kb)
    assert any(line.startswith("worst found in the declared ranges: ") for line in lines)
    assert any(line.startswith("about the operating points: ") for line in lines)
