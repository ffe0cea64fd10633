"""A design with more evaluations contains one with fewer, to the bit, and is not worse in the taught situations."""

import json

import pytest

from experiments import design
from experiments.pipeline.choice import best_first
from experiments.settings import searching
from tests.experiments.front import smallest

SHORT, LONG = 60, 240  # one round, and one more of 180
ONCE = ("gain_box", "reference")
OF_SEARCHES = (
    "fixed_genetic", "fixed_cmaes", "two_degree", "table_error", "table_rate", "teaching_signal", "imitation",
    "inputs_error_rate", "inputs_error_output", "knowledge_base_equal", "knowledge_base_free", "knowledge_base_direct",
)  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folders of the same design with two budgets, inputs chosen."""
    place = tmp_path_factory.mktemp("rounds")
    tiny = [word for word in smallest.words() if not word.startswith(("network.inputs", "budget.evaluations"))]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(searching, "ROUND", SHORT)
        for evaluations in (SHORT, LONG):
            asked = [f"budget.evaluations={evaluations}", "ladder.further=[direct]", f"output={evaluations}"]
            design.main([*tiny, *asked])
    return place / str(SHORT), place / str(LONG)


def contents(stage):
    """What a stage has found: its record also names all that went before, and so the budget."""
    return {file.name: file.read_bytes() for file in stage.iterdir() if file.name != "stage.json"}


@pytest.mark.parametrize("stage", [*ONCE, *OF_SEARCHES])
def test_a_longer_design_does_first_what_a_shorter_one_does(runs, stage):
    short, long = (run / "stages" / stage for run in runs)
    assert contents(short) == contents(long)


@pytest.mark.parametrize("stage", OF_SEARCHES)
def test_it_then_searches_anew(runs, stage):
    short, long = runs
    again = f"{stage}_search_2"
    assert not (short / "stages" / again).exists()
    assert contents(long / "stages" / again) != contents(long / "stages" / stage)


def test_it_is_no_worse_in_the_taught_situations(runs):
    short, long = (json.loads((run / "metrics.json").read_text())["controllers"] for run in runs)
    for name in ("fixed", "two_degree", "table", "knowledge_base", "knowledge_base_free", "knowledge_base_direct"):
        assert long[name]["fitness"]["taught"] <= 1.01 * short[name]["fitness"]["taught"]


def test_it_counts_the_evaluations_of_all_searches(runs):
    short, long = (json.loads((run / "metrics.json").read_text())["controllers"] for run in runs)
    for name in ("fixed", "two_degree", "knowledge_base"):
        assert long[name]["evaluations"] > 2 * short[name]["evaluations"]


@pytest.mark.parametrize(
    ("ranks", "taught", "order"),
    [
        ([3, 1, 2], [1.0, 1.0, 1.0], [1, 2, 0]),  # of the short ones the best; the long one is no better
        ([3, 2, 1], [1.0, 1.0, 0.9], [2, 1, 0]),  # the long one is better in both
        ([3, 2, 1], [1.0, 1.0, 1.005], [2, 1, 0]),  # as good as alike
        ([3, 2, 1], [1.0, 1.0, 1.1], [1, 2, 0]),  # better in the validation situations, worse where it was made for
        ([3, 2, 1], [0.5, 1.0, 0.9], [2, 1, 0]),  # the short one that would be delivered is what it is held against
        ([3, 2, 1], [-1.0, -1.0, -0.9], [1, 2, 0]),  # a fitness below zero
    ],
)
def test_a_longer_search_goes_first_only_if_no_worse_where_it_was_taught(ranks, taught, order):
    kept = [(False, False, rank) for rank in ranks]
    assert best_first(kept, taught, lambda number: number // 2) == order


def test_margins_go_before_the_taught_situations():
    """What keeps the margins is delivered in place of what breaks them, however much worse it is."""
    broken, kept = (True, False, 1.0), (False, False, 2.0)
    assert best_first([broken, kept], [1.0, 2.0], lambda number: number) == [1, 0]
    assert best_first([kept, broken], [2.0, 1.0], lambda number: number) == [0, 1]


def test_what_the_verdict_will_not_hold_against_it_goes_before_what_is_better():
    """Of one round whatever it costs; of a later one only where it is no worse than 1 % in the taught situations."""
    held, free = (False, True, 1.0), (False, False, 2.0)
    assert best_first([held, free], [1.0, 2.0], lambda _: 0) == [1, 0]
    assert best_first([free, held], [2.0, 1.0], lambda number: number) == [0, 1]
    assert best_first([held, free], [1.0, 1.005], lambda number: number) == [1, 0]
    assert best_first([held, free], [1.0, 1.02], lambda number: number) == [0, 1]
