"""The ladder of baselines: what each kind of controller is, and that all are searched alike."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from controllers.probes import gains_at
from plants.excitation import GaussianFilter
from sscq.baselines import candidates
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan, search
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.search.cmaes import CmaEs
from sscq.search.encoding import GainScale
from sscq.search.genetic import GeneticAlgorithm

VDP = plants.get("van_der_pol")
LOW, HIGH = np.zeros(3), np.full(3, 10.0)
START = np.array([[1.0, 0.3, 2.0], [4.0, 1.0, 6.0]])
LAWS = (PID(sample_time=0.02),)
STEP, TICK = 0.01, 0.08
SITUATIONS = (
    sscq.Situation("up", 1.5, initial=(0.1, 0.0), t_end=5.0), sscq.Situation("back", 0.0, initial=(2.0, 0.5), t_end=5.0)
)  # fmt: skip
TASK = Task(VDP, SITUATIONS, Fitness(travel_weight=0.002), STEP, threads=1)
VARIABLES = {v.name: v for v in candidates.variables(VDP)}
KINDS = ("fixed", "two_degree", "table_error", "table_rate", "table_output")


def candidate(kind, start=START, low=LOW, high=HIGH, laws=LAWS):
    if kind == "fixed":
        return candidates.fixed(laws, low, high, start)
    if kind == "two_degree":
        return candidates.two_degree(laws, low, high, start)
    return candidates.table(laws, low, high, start, VARIABLES[kind.removeprefix("table_")], TICK)


def theta_of(found, genomes):
    return genomes if found.decode is None else found.decode(genomes)


def given_gains(found, theta):
    """Gains [n, n_places, n_gains] that a controller may give: those at rest, and those in passing."""
    schedule = found.controller.schedule
    outputs = [np.zeros((1, 1))] * len(schedule.signals)
    probes = [schedule.at_rest(theta, outputs), schedule.probes(theta, {}, 16)]
    return np.concatenate([gains_at(schedule, theta, one) for one in probes if one is not None], axis=1)


@pytest.fixture(scope="module")
def objectives():
    """Objective of each kind, compiled when it is first asked for."""
    made = {}

    def of(kind):
        if kind not in made:
            found = candidate(kind)
            made[kind] = Objective(TASK, found.controller, found.decode)
        return made[kind]

    return of


# ----------------------------------------------------------------------------------------------------- each kind


@pytest.mark.parametrize("kind", KINDS)
def test_shapes_and_bounds(kind):
    found = candidate(kind)
    assert found.name == kind
    assert found.title
    n_theta = {"fixed": 3, "two_degree": 4}.get(kind, 7)
    n_genes = len(found.low)
    assert (found.low < found.high).all()
    assert found.start.shape == (2, n_genes)
    assert (found.low <= found.start).all()
    assert (found.start <= found.high).all()
    theta = theta_of(found, found.start)
    assert theta.shape == (2, n_theta)
    assert found.controller.n_theta == n_theta
    assert given_gains(found, theta).shape[::2] == (2, 4 if kind == "two_degree" else 3)


@given(st.data(), st.sampled_from(KINDS))
def test_any_genome_is_a_controller_within_the_box(data, kind):
    found = candidate(kind)
    share = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=len(found.low), max_size=len(found.low))))
    theta = theta_of(found, (found.low + share * (found.high - found.low))[None])
    gains = given_gains(found, theta)[..., :3]
    assert (gains >= LOW - 1e-12).all()
    assert (gains <= HIGH + 1e-12).all()
    if kind == "two_degree":
        assert 0.0 <= theta[0, 3] <= 1.5
    if kind.startswith("table"):
        variable = VARIABLES[kind.removeprefix("table_")]
        assert variable.least * (1.0 - 1e-12) <= theta[0, 6] <= variable.most * (1.0 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_starts_are_the_given_gains(kind):
    """To rounding, and the search of every kind begins where the fixed PID ended."""
    theta = theta_of(candidate(kind), candidate(kind).start)
    np.testing.assert_allclose(theta[:, :3], START, rtol=1e-12)
    if kind == "two_degree":
        np.testing.assert_array_equal(theta[:, 3], 1.0)
    if kind.startswith("table"):
        np.testing.assert_allclose(theta[:, 3:6], START, rtol=1e-12)


def test_a_law_with_a_set_point_weight_starts_from_it():
    found = candidate("two_degree", laws=(replace(LAWS[0], set_point_weight=0.4),))
    np.testing.assert_array_equal(theta_of(found, found.start)[:, 3], 0.4)


def test_gains_of_a_table_go_from_node_to_node():
    """And margins are asked of the nodes and of what lies between them, not beside the line."""
    found = candidate("table_error")
    theta = np.array([[1.0, 0.2, 3.0, 5.0, 1.0, 2.0, 0.7]])
    sets = given_gains(found, theta)[0]
    np.testing.assert_array_equal(sets[0], theta[0, :3])  # at rest
    along = (sets - theta[0, :3]) / (theta[0, 3:6] - theta[0, :3])
    assert {0.0, 1.0} < set(along[:, 0].tolist())
    assert ((along >= -1e-12) & (along <= 1.0 + 1e-12)).all()
    np.testing.assert_allclose(along - along[:, :1], 0.0, atol=1e-12)
    for error in (0.0, 0.2, 0.5, 3.0):
        gains, _ = found.controller.schedule.gains(0.0, (error, 0.0), (), tuple(theta[0]))
        share = min(error / 0.7, 1.0)
        np.testing.assert_allclose(gains, theta[0, :3] + share * (theta[0, 3:6] - theta[0, :3]), rtol=1e-12)


def test_variables_of_a_plant():
    assert [(v.name, v.signal, v.transform) for v in VARIABLES.values()] == [
        ("error", "error", "magnitude"), ("rate", "error_rate", "magnitude"), ("output", "position", "square"),
    ]  # fmt: skip
    wide = replace(VDP, channels=(replace(VDP.channels[0], scale=3.0),))
    assert [v.most for v in candidates.variables(wide)] == [30.0, 60.0, 180.0]


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [(0.0, 10.0, "linear"), (0.05, 10.0, "log"), (0.2, 10.0, "linear"), (-10.0, -0.01, "log"), (-1.0, 10.0, "linear")],
)
def test_wide_ranges_are_logarithmic(low, high, scale):
    found = candidate("fixed", START, np.array([low, 0.0, 0.0]), np.array([high, 10.0, 10.0]))
    assert found.scale == (scale, "linear", "linear")


def test_several_channels():
    """Gains of channel 2 stand behind those of channel 1, with a weight each in a two-degree-of-freedom PID."""
    low, high = np.zeros(6), np.r_[HIGH, 2.0 * HIGH]
    start = np.arange(1.0, 7.0)[None]
    one, two = (candidate(kind, start, low, high, LAWS * 2) for kind in ("fixed", "two_degree"))
    assert one.controller.gain_names == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    assert two.controller.gain_names == ("kp_1", "ki_1", "kd_1", "b_1", "kp_2", "ki_2", "kd_2", "b_2")
    np.testing.assert_allclose(theta_of(two, two.start), [[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 1.0]], rtol=1e-12)
    top = theta_of(two, two.high[None])
    np.testing.assert_allclose(top, [[10.0, 10.0, 10.0, 1.5, 20.0, 20.0, 20.0, 1.5]], rtol=1e-12)


# -------------------------------------------------------------------------------------------------- bent coordinates


@given(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), st.lists(st.floats(0.0, 10.0), min_size=3, max_size=3))
def test_bent_coordinates_reach_the_whole_box_and_back(genes, middle):
    warp = GainScale(LOW, HIGH, np.array(middle))
    gains = warp.gains(np.array(genes))
    assert ((gains >= 0.0) & (gains <= 10.0)).all()
    np.testing.assert_allclose(warp.gains(warp.genes(gains)), gains, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(warp.gains(np.array([[0.0] * 3, [1.0] * 3])), [LOW, HIGH])
    more = warp.gains(np.minimum(np.array(genes) + 0.01, 1.0))
    assert (more >= gains).all()


def test_small_gains_stand_in_the_middle():
    warp = GainScale(LOW, HIGH, np.array([0.4, 5.0, 9.0]))
    np.testing.assert_allclose(warp.genes(np.array([0.4, 5.0, 9.0])), [0.5, 0.5, 0.9], rtol=1e-12)
    np.testing.assert_allclose(warp.gains(np.full(3, 0.5)), [0.4, 5.0, 5.0], rtol=1e-12)


def test_a_fixed_gain_stays_fixed():
    warp = GainScale(np.array([0.0, 2.0]), np.array([1.0, 2.0]), np.array([0.3, 2.0]))
    np.testing.assert_array_equal(warp.gains(np.array([[0.2, 0.0], [0.7, 1.0]]))[:, 1], [2.0, 2.0])


# ------------------------------------------------------------------------------- the fixed PID is a case of each


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "fixed"])
def test_the_fixed_pid_is_a_special_case(objectives, kind):
    """Set-point weight 1, or equal gains at both nodes: the same numbers, bit for bit."""
    gains = np.vstack([START, [[6.0, 2.0, 1.0]]])
    others = {"two_degree": np.hstack([gains, np.ones((3, 1))])}
    theta = others.get(kind, np.hstack([gains, gains, np.full((3, 1), 0.8)]))
    expected = objectives("fixed").loop.evaluate(gains, threads=1)
    found = objectives(kind).loop.evaluate(theta, threads=1)
    for name, values in expected.until_lost.items():
        np.testing.assert_array_equal(found.until_lost[name], values, err_msg=name)
    theta[:, 3] *= 0.5
    assert (objectives(kind).loop.evaluate(theta, threads=1).iae[0] != expected.iae[0]).all()


# ---------------------------------------------------------------------------------------------------------- searches

SHORT = (GeneticAlgorithm(evaluations=120, population=24, generations=None), CmaEs(evaluations=80, sigma=0.2))


@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_evaluations_improve_on_the_start(objectives, kind):
    found = SearchPlan(SHORT).search(objectives(kind), candidate(kind))
    start = objectives(kind)(candidate(kind).start)
    assert found.fitness < 0.95 * start.min()
    assert found.evaluations <= 200
    assert [name for name, _ in found.histories] == ["GeneticAlgorithm", "CmaEs"]
    np.testing.assert_array_equal(found.theta, theta_of(candidate(kind), found.genome[None])[0])
    again = TASK.fitness(objectives(kind).loop.evaluate(found.theta[None], threads=1))[0]
    assert again == found.fitness
    for _, history in found.histories:
        assert (np.diff(history.best) <= 0.0).all()
    assert found.histories[1][1].best[0] <= found.histories[0][1].best[-1]  # it begins with the best before


def test_the_same_seed_gives_the_same_search(objectives):
    first, again, other = (
        SearchPlan(SHORT, seed).search(objectives("fixed"), candidate("fixed")) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.genome, again.genome)
    assert first.fitness == again.fitness
    assert (first.genome != other.genome).any()


def test_a_search_goes_on_from_its_checkpoints(objectives, tmp_path):
    plan = SearchPlan(SHORT, checkpoints=tmp_path)
    found = plan.search(objectives("fixed"), candidate("fixed"))
    assert sorted(p.name for p in tmp_path.glob("*.npz")) == ["fixed_0.npz", "fixed_1.npz"]
    before = objectives("fixed").evaluations
    again = plan.search(objectives("fixed"), candidate("fixed"))
    assert objectives("fixed").evaluations == before  # nothing was left to do
    np.testing.assert_array_equal(again.genome, found.genome)
    assert (again.fitness, again.evaluations) == (found.fitness, found.evaluations)


def test_checkpoints_of_another_task_are_refused(objectives, tmp_path):
    SearchPlan(SHORT, checkpoints=tmp_path).search(objectives("fixed"), candidate("fixed"))
    other = objectives("fixed").task.on((replace(SITUATIONS[0], t_end=4.0), SITUATIONS[1]))
    objective = Objective(other, candidate("fixed").controller)
    with pytest.raises(ValueError, match="fixed_0.npz"):
        SearchPlan(SHORT, checkpoints=tmp_path).search(objective, candidate("fixed"))


def test_what_one_method_leaves_the_next_may_use(objectives):
    """A search that stalls early hands its budget on."""
    stalls = replace(SHORT[0], evaluations=400, population=12, stall_generations=1, stall_tolerance=1.0)
    found = SearchPlan((stalls, CmaEs(evaluations=40))).search(objectives("fixed"), candidate("fixed"))
    (_, first), (_, second) = found.histories
    assert first.evaluations[-1] < 100
    assert 100 < second.evaluations[-1] <= 440 - first.evaluations[-1]


def test_searches_under_renewed_noise_are_compared_under_the_declared():
    """With new noise every other generation, the fitness that counts is that of the declared seeds."""
    rough = tuple(replace(s, excitation=GaussianFilter(0.3, 5.0)) for s in SITUATIONS)
    declared = candidate("fixed")
    objective = Objective(TASK.on(rough), declared.controller)
    renewing = tuple(replace(method, renew_every=2) for method in SHORT)
    found = SearchPlan(renewing).search(objective, declared)
    alone = Objective(TASK.on(rough), declared.controller)
    assert found.fitness == alone(found.genome[None])[0]
    assert found.fitness < alone(START)[0]
    assert (SearchPlan(SHORT).search(alone, declared).genome != found.genome).any()


def test_progress_is_told(objectives):
    told = []
    plan = SearchPlan(SHORT, report=lambda *what: told.append(what))
    found = plan.search(objectives("fixed"), candidate("fixed"))
    assert {(what[0], what[1]) for what in told} == {("fixed", "GeneticAlgorithm"), ("fixed", "CmaEs")}
    assert told[-1][2].best == found.fitness


def test_margins_are_kept_by_the_search():
    """What tracks best has too little damping for the limits; the constrained search stays inside."""
    limits = MarginLimits(1.5, delay_margin=0.3)
    margins = OperatingMargins(VDP, LAWS, SITUATIONS, STEP, LOW.tolist(), HIGH.tolist(), limits)
    task = replace(TASK, fitness=Fitness(entropy_weight=0.0))
    plan = SearchPlan((GeneticAlgorithm(evaluations=300, population=24, generations=None),))
    start = np.array([[1.0, 0.2, 6.0]])
    free, kept = (search(task, candidate("fixed", start), plan, m) for m in (None, margins))
    assert not margins.keeps(free.theta)
    assert margins.keeps(kept.theta)
    assert kept.fitness < 0.99 * float(Objective(task, kept.controller, margins=margins)(start)[0])
    assert free.fitness < kept.fitness


def test_the_objective_counts_and_decodes(objectives):
    objective = objectives("table_error")
    before = objective.evaluations
    genomes = candidate("table_error").start
    values = objective(genomes)
    assert objective.evaluations == before + 2
    expected = objectives("fixed")(theta_of(candidate("table_error"), genomes)[:, :3])
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    np.testing.assert_array_equal(objective(genomes.tolist()), values)


def test_of_the_best_on_the_way_the_one_is_taken_that_is_best_in_all_situations():
    """Taught and validation want different gains: what is taken was met on the way, and none of the others is better."""
    task = TASK
    other = task.on([replace(s, name=f"{s.name} again", delay=0.1) for s in SITUATIONS])
    one = candidates.fixed(LAWS, np.zeros(3), np.full(3, 10.0), np.array([[1.0, 0.5, 1.0]]))
    plan = SearchPlan((CmaEs(evaluations=400, sigma=0.2),), 1)
    alone = search(task, one, plan, None)
    found = search(task, one, plan, None, other)
    np.testing.assert_array_equal(found.incumbents, alone.incumbents)
    everywhere = task.on([*SITUATIONS, *other.situations])
    values = Objective(everywhere, one.controller)(alone.incumbents)
    assert np.argmin(values) < len(values) - 1  # the search went on to fit the taught situations alone
    np.testing.assert_array_equal(found.theta, alone.incumbents[np.argmin(values)])
    assert found.fitness == Objective(task, one.controller)(found.theta[None])[0] > alone.fitness
    assert found.evaluations == alone.evaluations + 2 * len(values)


def test_a_point_that_nothing_holds_tells_no_output():
    """It was left to the margins to refuse it; with none asked, a design must not end on it."""
    assert candidates.outputs_at_points(VDP) == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])
    moving = plants.OperatingPoint("moving", (1.0, 1.0))
    wrong = replace(VDP, operating_points=(*VDP.operating_points[:2], moving))
    assert candidates.outputs_at_points(wrong) == pytest.approx([0.0, 0.5])
    assert [v.as_input for v in candidates.variables(replace(VDP, operating_points=(moving,)))] == [
        "e", "e_rate", "position"
    ]  # fmt: skip
