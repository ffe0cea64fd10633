"""Ablations: histories with a known answer, the words of the table, and a design taken apart with tiny budgets."""

import json
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from experiments import benchmark
from experiments.pipeline import knowledge, ladder
from experiments.pipeline.bench import Bench
from experiments.pipeline.knowledge import Refined
from experiments.runtime.errors import UserError
from experiments.settings import setup
from experiments.suites import ablations, variants
from experiments.suites.ablations import Result, Start, course, start_of, worth
from experiments.suites.variants import VARIANTS, Design, Scratch
from flcs import FuzzyController
from flcs.refinement.rule_count import TradeOff, TradeOffPoint
from sscq.loop.quality import ALL_MEASURES
from sscq.search.history import GenerationHistory
from sscq.verdict.bootstrap import Change
from sscq.verdict.comparison import Comparison
from tests.experiments import finished_run
from tests.reference.closed_loop_twin import uncompiled

CURVE = TradeOff((TradeOffPoint(4, "", 1.0), TradeOffPoint(3, "on[P,P]", 1.0)), 1, 0.005, {})


def history(evaluations, best):
    return GenerationHistory(np.arange(len(best)), np.array(evaluations), np.array(best), np.array(best))


def test_the_course_of_searches_that_go_on_from_one_another():
    """A later search starts from a start that is worse than the best so far: the course keeps the best."""
    spent, best = course([history([10, 20], [3.0, 2.5]), history([5, 15], [2.8, 1.9])])
    np.testing.assert_array_equal(spent, [10, 20, 25, 35])
    np.testing.assert_array_equal(best, [3.0, 2.5, 2.5, 1.9])


@pytest.fixture(scope="module")
def design():
    """Made-up gains, rules and teaching signal of the Van der Pol oscillator; tiny budgets."""
    config = finished_run.configuration()
    for several in (config.situations.taught, config.situations.validation, config.situations.unforeseen):
        for name in several:
            several[name] = replace(several[name], t_end=0.3)
    bench = Bench(replace(setup(config), evaluations=24, limits=None), cast("object", Scratch()), quiet=True)
    bench.margins = None
    kb = finished_run.knowledge_base(bench.setup, 0.4)
    entry = finished_run.entry("knowledge_base_equal", "", finished_run.FIXED, *["GeneticAlgorithm", "CmaEs"] * 2)
    fitness = bench.setup.fitness
    found = Design(
        bench, ladder.Reference(fitness, finished_run.FIXED[None], None),
        finished_run.entry("fixed", "fixed PID", finished_run.FIXED, "CmaEs"), replace(fitness, travel_limit=30.0),
        finished_run.teaching_signal(bench.setup), finished_run.knowledge_base(bench.setup, 0.6),
        Refined(kb, entry, CURVE), np.empty(0),
    )  # fmt: skip
    with uncompiled():
        return replace(found, rollouts=variants.rollouts(found, FuzzyController(kb, laws=bench.setup.laws)))


def test_the_worth_of_the_start_counts_the_teacher(design, monkeypatch):
    """J 1.5 is the worse end: after 30 + 25 evaluations from the imitation, 10 from the reference gains."""
    monkeypatch.setattr(ablations.judging, "taught_loops", lambda _: 7)
    columns = [([10, 30], [3.0, 2.0]), ([25, 30], [1.5, 1.2]), ([10, 20], [1.5, 1.5]), ([10], [1.5])]
    histories = tuple(("", history(*one)) for one in columns)
    entry = replace(design.refined.entry, histories=histories)
    found = start_of(replace(design, refined=replace(design.refined, entry=entry)))
    assert found == Start(1.5, 30 + 25 + 7, 10, 7, (1.2, 1.5))
    # What was searched before both of them belongs to neither.
    labelled = [
        (f"{'from x' if k > 1 else 'over e alone'}|CmaEs", h) for k, (_, h) in enumerate((*histories[:2], *histories))
    ]
    entry = replace(entry, histories=tuple(labelled))
    assert start_of(replace(design, refined=replace(design.refined, entry=entry))) == found
    lines = ablations.of_starts(Result("van_der_pol", {}, {}, {}, (found,)))
    assert "62 from the imitation, of these 7 of the teacher; 10 from the reference gains" in lines[1]
    assert "the start costs 52 more (LOSS)" in lines[1]


def test_the_worth_of_the_start_follows_the_number_of_searches(design, monkeypatch):
    """Of three searches the first and the third start from the imitated rules; each is made by two methods here."""
    monkeypatch.setattr(ablations.judging, "taught_loops", lambda _: 7)
    best = [[3.0, 2.0], [2.0, 2.0], [2.5, 1.4], [1.4, 1.3], [2.0, 1.8], [1.3, 1.2]]
    entry = replace(design.refined.entry, histories=tuple(("", history([10, 20], one)) for one in best))
    refined = replace(design.refined, entry=entry)

    def worth(tries):
        config = design.bench.setup.config
        config = replace(config, search=replace(config.search, tries=tries))
        bench = Bench(replace(design.bench.setup, config=config), design.bench.folder, quiet=True)
        return start_of(replace(design, refined=refined, bench=bench))

    # J 1.3: 40 evaluations in the first search and 30 of the third; 40 in the second.
    assert worth(3) == Start(1.3, 40 + 30 + 7, 40, 7, (1.2, 1.3))
    # The same as six searches by one method: J 1.4 after 20 and 20, and after 20 and 10.
    assert worth(6) == Start(1.4, 40 + 7, 30, 7, (1.4, 1.2))
    assert worth(1) is None


def test_one_search_has_nothing_to_be_compared_with():
    assert "not known: with search.tries=1" in ablations.of_starts(Result("p", {}, {}, {}, ()))[0]


def test_unpruned_is_the_same_base_with_the_dropped_rules_on(design):
    controller = variants.without_pruning(design)
    before, after = design.refined.kb.channels[0].rules, controller.kb.channels[0].rules
    assert [rule.on for rule in before].count(False) == 1
    assert all(rule.on for rule in after)
    assert [rule.gains for rule in before] == [rule.gains for rule in after]


def test_a_design_is_taken_apart_and_judged_in_its_own_rollouts(design):
    """The full method as a variant of itself changes nothing; what is searched again is judged in the same rollouts."""
    laws = design.bench.setup.laws
    same = ("the method itself", lambda d: FuzzyController(d.refined.kb, laws=laws))
    chosen = {"same": same} | {name: VARIANTS[name] for name in ("refinement", "imitation")}
    with pytest.MonkeyPatch.context() as patch, uncompiled():
        patch.setattr(ablations, "VARIANTS", chosen)
        patch.setattr(variants.judging, "taught_loops", lambda _: 6)  # a cheap teacher: 24 + 6 evaluations
        found = ablations.ablate("van_der_pol", [design], list(chosen))
        cells = {row[0]: row for row in ablations.rows(found)}
    assert found.comparisons["same"].mean == Change(0.0, 0.0, 0.0)
    assert found.error["same"] == 0.0
    assert found.by_design["imitation"] == (found.comparisons["imitation"].mean.value,)
    assert cells["the method itself"][-1] == "no difference shown"
    assert found.comparisons["refinement"].mean.value != 0.0
    assert found.comparisons["imitation"].mean.value != 0.0
    assert design.rollouts.shape == (1 + len(ALL_MEASURES), finished_run.SEEDS, 2)
    assert len(found.starts) == 1


def test_without_imitation_has_the_teachers_budget_beside_its_own(design, monkeypatch):
    """Evaluations of both starts and of the teacher; all rules begin at the reference gains."""
    seen = {}

    def refine(task, kb, plan, margins, mirrored, **_):
        seen.update(limit=task.fitness.travel_limit, kb=kb, budget=sum(m.evaluations for m in plan.methods))
        seen.update(mirrored=mirrored, population=plan.methods[-1].population)
        return kb, None

    monkeypatch.setattr(variants, "refine", refine)
    monkeypatch.setattr(variants, "prune", lambda _task, kb, **_: (kb, []))
    monkeypatch.setattr(variants.judging, "taught_loops", lambda _: 13)
    variants.without_imitation(design)
    assert (seen["limit"], seen["budget"]) == (30.0, 24 + 13)
    assert {rule.gains for rule in seen["kb"].channels[0].rules} == {tuple(finished_run.FIXED)}
    full = seen["population"]
    network = replace(design.bench.setup.network, mirrored=True)
    variants.without_imitation(replace(design, bench=variants._bench(design, network=network)))
    assert seen["mirrored"]
    # Of 9 rules 5 are free, of 3 terms of an input 1: 17 of 33 numbers; populations go with the root of the number.
    assert (full, seen["population"]) == (round(10.0 * 33**0.5), round(10.0 * 17**0.5))


@pytest.fixture
def chain(design, monkeypatch):
    """The stages of a design, noting what they are given instead of computing."""
    seen = []

    def note(stage, result):
        return lambda bench, *given: seen.append((stage, bench.setup, given)) or result

    monkeypatch.setattr(ladder, "fixed_gains", note("fixed", design.fixed))
    monkeypatch.setattr(knowledge, "teaching_signal", note("teacher", design.signal))
    monkeypatch.setattr(knowledge, "imitation", note("imitation", design.imitated))
    monkeypatch.setattr(knowledge, "refined", note("refined", design.refined))
    return seen


def test_without_entropy_no_stage_sees_it(design, chain):
    variants.without_entropy(design)
    stages = {stage: given for stage, _, given in chain}
    assert list(stages) == ["fixed", "teacher", "imitation", "refined"]
    assert all(given[0].fitness.entropy_weight == 0.0 for stage, given in stages.items() if stage != "refined")
    fitness = stages["refined"][0]
    assert (fitness.entropy_weight, fitness.travel_limit) == (0.0, 30.0)
    assert fitness.error_weight == design.equal.error_weight


def test_the_clairvoyant_teacher_and_the_error_alone_change_nothing_else(design, chain):
    variants.with_clairvoyant_teacher(design)
    assert [stage for stage, _, _ in chain] == ["teacher", "imitation", "refined"]
    assert all(setup.teacher.clairvoyant for _, setup, _ in chain)
    assert chain[-1][2][0] == design.equal
    chain.clear()
    variants.with_error_alone(design)
    assert [stage for stage, _, _ in chain] == ["imitation", "refined"]
    assert {setup.network.inputs for _, setup, _ in chain} == {("e",)}
    assert chain[0][2][-1] is design.signal  # the teaching signal is not made again


@pytest.mark.slow
def test_a_small_suite_takes_a_real_design_apart(tmp_path, capsys):
    words = ["suite=ablations", "seeds=1", f"folder={tmp_path}", "budget.evaluations=100", "network.inputs=[e,e_rate]", "budget.verdict_seeds=2",
             "budget.teacher_generations=1"]  # fmt: skip
    benchmark.main(words)
    found = json.loads((tmp_path / "ablations.json").read_text(encoding="utf-8"))["plants"][0]
    assert set(found["comparisons"]) == set(variants.VARIANTS)
    assert "(within 0.5 %)" in capsys.readouterr().out


def test_a_table_is_judged_by_its_own_limit():
    for error, told in ((0.004, "(within 0.5 %)"), (-0.006, "(**beyond 0.5 %**)")):
        result = Result("p", {"table": comparison(0.0, 0.0, 0.0)}, {"table": (0.0,)}, {"table": error}, ())
        assert told in ablations.rows(result)[0][-2]


def comparison(value, low, high, travel=0.0, failures=0):
    change = Change(value, low, high)
    return Comparison(
        change, change, change, Change(travel, travel, travel), (failures, 0), failures, 0, False, 0.5, 1.0, ()
    )


@pytest.mark.parametrize(("variant", "told"), [
    (comparison(0.03, 0.01, 0.05), "helps"),
    (comparison(0.03, -0.01, 0.05), "no difference shown"),
    (comparison(0.003, 0.001, 0.005), "no difference shown"),
    (comparison(-0.03, -0.05, -0.01), "**costs: LOSS**"),
    (comparison(-0.003, -0.004, -0.001), "no difference shown"),
    (comparison(-0.03, -0.05, -0.01, travel=0.2), "keeps the travel"),
    (comparison(-0.03, -0.05, -0.01, failures=1), "helps"),
])  # fmt: skip
def test_what_a_part_is_worth(variant, told):
    assert worth(variant, (variant.mean.value,) * 2) == told


def test_designs_of_two_minds_are_told():
    assert worth(comparison(0.03, 0.01, 0.05), (0.07, -0.01)) == "depends on the design"
    assert worth(comparison(-0.03, -0.05, -0.01), (0.01, -0.07)) == "depends on the design"
    assert worth(comparison(0.03, 0.01, 0.05), (0.07, -0.001)) == "helps"


def test_words_and_page():
    chosen, variants = ablations.options(["variants=pruning,table", "seeds=2", "budget.evaluations=50"])
    assert (chosen.plants, chosen.seeds, variants) == (("van_der_pol",), 2, ("pruning", "table"))
    assert "budget.evaluations=50" in chosen.overrides
    with pytest.raises(UserError, match="did you mean 'pruning'"):
        ablations.options(["variants=prunning"])
    result = Result("van_der_pol", {"pruning": comparison(-0.03, -0.05, -0.01)}, {"pruning": (-0.03,)}, {"pruning": -0.02},
                    (Start(1.5, 20, 90, 7, (1.2, 1.5)),))  # fmt: skip
    text = ablations.page([result], chosen)
    assert "| without pruning | -3.0 % [-5.0, -1.0] | -3.0 |" in text
    assert "**costs: LOSS** |" in text
    assert "the start saves 70" in text
