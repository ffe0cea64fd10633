"""Several searches as one design: each has a seed of its own, and all situations that it may use choose."""

from typing import cast

import numpy as np
import pytest

from controllers import ConstantGains, Controller, gain_names
from experiments.pipeline import choice, judging, ladder
from experiments.pipeline.assurance.margins_over_ranges import FORESEEN, Foresights
from experiments.pipeline.bench import Bench, stage_name
from experiments.report.recorded import delivered
from experiments.runtime import formats
from experiments.settings import setup
from experiments.suites.variants import Scratch
from sscq.baselines.tuned import Tuned
from tests.experiments import finished_run
from tests.experiments.finished_run import FIXED

SLACK, TIGHT = FIXED * 0.2, FIXED * 0.9


@pytest.fixture(scope="module")
def bench():
    return Bench(setup(finished_run.configuration(seeds=3)), cast("object", Scratch()), quiet=True)


@pytest.fixture(scope="module")
def chosen(bench):
    """Three searches: of the fixed gains none moves, of the schedule the second is the best."""
    return chosen_of(bench, groups(bench))


def chosen_of(bench, several):
    fixed = tuned(bench, FIXED)
    return choice.chosen(bench, bench.setup.fitness, fixed, several, Foresights(bench, fixed))


def tuned(bench, gains, name="fixed", **more):
    laws = bench.setup.laws
    constant = Controller(laws, ConstantGains(gain_names(laws)))
    known = {"evaluations": 30, "margins_asked": True}
    return Tuned(name, name, "", constant, np.array(gains), **(known | more))


def groups(bench):
    found = ([SLACK, FIXED], [FIXED, TIGHT], [0.5 * SLACK, FIXED])
    return [
        [tuned(bench, FIXED), tuned(bench, schedule, "knowledge_base"), tuned(bench, free, "knowledge_base_free")]
        for schedule, free in found
    ]


def test_every_search_has_a_seed_and_stages_of_its_own(bench):
    one, two, three = (bench.of_search(number) for number in range(3))
    assert one.setup.seed == bench.setup.seed
    assert len({each.setup.seed for each in (one, two, three)}) == 3
    assert two.setup.sets is one.setup.sets  # the same situations
    assert [stage_name("tables", each.search) for each in (one, two, three)] == [
        "tables", "tables_search_2", "tables_search_3",
    ]  # fmt: skip
    assert two.labelled("genetic search") == "search 2 of 3: genetic search"


def test_one_search_is_as_it_was():
    alone = Bench(setup(finished_run.configuration()), cast("object", Scratch()), quiet=True)
    assert [one.setup.seed for one in alone.of_searches(lambda each: each)] == [alone.setup.seed]
    assert alone.labelled("genetic search") == "genetic search"
    fixed = tuned(alone, FIXED)
    assert choice.fixed(alone, None, [fixed]) == (fixed,)
    assert chosen_of(alone, [[fixed]]).order == {}


def test_the_best_in_all_situations_is_delivered(bench, chosen):
    assert chosen.order["knowledge_base"] == [1, 0, 2]
    assert chosen.of("knowledge_base") == 1
    assert chosen.order["imitation"] == chosen.order["knowledge_base"]  # what it was refined from
    assert "fixed" not in chosen.order
    assert chosen.of("fixed") == 0


def test_the_number_of_threads_does_not_choose(chosen):
    beside = Bench(setup(finished_run.configuration(seeds=3, threads=3)), cast("object", Scratch()), quiet=True)
    assert chosen_of(beside, groups(beside)).order == chosen.order


def test_what_a_later_search_does_not_have_is_chosen_among_the_others(bench, chosen):
    """A contender may exist with the fixed gains of one round, and not with those of another."""
    first, second, third = groups(bench)
    found = chosen_of(bench, [first, second, [one for one in third if one.name != "knowledge_base"]])
    assert found.order["knowledge_base"] == [1, 0]
    assert found.order["knowledge_base_free"] == chosen.order["knowledge_base_free"]


def test_what_is_delivered_counts_the_evaluations_of_all_searches(bench, chosen):
    group, others = chosen.delivered(groups(bench))
    found = {one.name: one for one in group}
    np.testing.assert_array_equal(found["knowledge_base"].theta, FIXED)
    assert found["knowledge_base"].evaluations == 90
    assert found["fixed"].evaluations == 30  # there was nothing to choose
    assert [one.theta.tolist() for one in others["knowledge_base"]] == [SLACK.tolist(), (0.5 * SLACK).tolist()]


def test_fixed_gains_are_chosen_alike(bench):
    reference = ladder.Reference(bench.setup.fitness, FIXED[None], None)
    (found,) = choice.fixed(bench, reference, [tuned(bench, gains) for gains in (SLACK, FIXED, SLACK)])
    np.testing.assert_array_equal(found.theta, FIXED)
    assert found.evaluations == 90


def test_a_controller_that_keeps_the_margins_goes_before_a_better_one_that_does_not(bench, monkeypatch):
    monkeypatch.setattr(choice, "keeps_margins", lambda _, one: bool(np.allclose(one.theta, SLACK)))
    found = chosen_of(bench, groups(bench))
    assert found.order["knowledge_base"] == [0, 1, 2]


def test_one_whose_margins_over_the_ranges_will_pass_goes_before_a_better_one(bench, monkeypatch):
    def held_against(_, other, one):
        assert other == FORESEEN
        return not np.allclose(one.theta, SLACK)

    monkeypatch.setattr(Foresights, "held_against", held_against)
    monkeypatch.setattr(choice, "keeps_margins", lambda *_: True)
    found = chosen_of(bench, groups(bench))
    assert found.order["knowledge_base"] == [0, 1, 2]


def test_the_verdict_hears_of_what_was_not_chosen(bench, chosen):
    group, others = chosen.delivered(groups(bench))
    _, judged = judging.judge(bench, bench.setup.fitness, group, others=others)
    comparison = judged.verdict.comparisons["knowledge_base"]
    assert comparison.searches[0] == comparison.mean.value == 0.0  # the fixed gains themselves
    assert max(comparison.searches[1:]) > 0.1
    assert comparison.mean.high == 0.0
    assert comparison.headline.high > 0.1  # another design may deliver one of these
    assert judged.verdict.comparisons["knowledge_base_free"].searches


def test_a_page_reads_the_stages_of_the_search_that_was_delivered(tmp_path, chosen):
    assert delivered(tmp_path, "imitation", "imitation") == tmp_path / "stages" / "imitation"
    place = tmp_path / "stages" / choice.STAGE
    place.mkdir(parents=True)
    formats.write_json(place / choice.FILE, {"order": chosen.order})
    assert delivered(tmp_path, "imitation", "imitation") == tmp_path / "stages" / "imitation_search_2"
    assert delivered(tmp_path, "tables", "table") == tmp_path / "stages" / "tables"


def test_an_oracle_is_no_choice(bench):
    gains = np.tile(FIXED, (5, 1))
    several = [[tuned(bench, FIXED), tuned(bench, FIXED, "oracle", per_situation=k * gains)] for k in (1.0, 1.1)]
    assert chosen_of(bench, several).order == {}
