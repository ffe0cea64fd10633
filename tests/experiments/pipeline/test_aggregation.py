"""Rounds of teaching as stages of a run: what each learns from, which one is kept, and the same bytes after a stop."""

import numpy as np
import pytest

import flcs
from configs.schema import SituationsConfig, TeacherConfig
from experiments.pipeline import aggregation, judging, knowledge, refining
from experiments.pipeline.bench import Bench
from experiments.pipeline.ladder import Reference
from experiments.runtime import formats
from experiments.runtime.run_folder import RunFolder
from experiments.settings import setup
from flcs import KnowledgeBase
from sscq.baselines.tuned import Tuned
from sscq.teaching.teaching_signal import TeachingSignal
from tests.experiments.finished_run import FIXED, configuration, situation
from tests.reference.closed_loop_twin import uncompiled

ROUNDS = 3


def config(rounds=ROUNDS, pooling="rows", **situations):
    taught = {name: situation(r, t_end=1.2, seed=n) for n, (name, r) in enumerate((("up", 1.0), ("down", -1.0)))}
    given = {
        "taught": taught, "validation": {"half": situation(0.5, t_end=1.2, seed=3)},
        "unforeseen": {"far": situation(1.5, t_end=1.2, seed=4)},
    }  # fmt: skip
    made = configuration(
        situations=SituationsConfig(**(given | situations)), step=0.05,
        teacher=TeacherConfig(window=0.4, horizon=0.8, continuations=1, population=4, rounds=rounds, pooling=pooling),
    )  # fmt: skip
    made.budget.teacher_generations = 2
    return made


def taught(path, rounds=ROUNDS):
    """Teach in a run folder, or go on in it."""
    folder = RunFolder.resume(path, command="design") if path.exists() else None
    folder = folder or RunFolder.create(path, command="design", config={"rounds": rounds})
    with folder, uncompiled():
        bench = Bench(setup(config(rounds)), folder, quiet=True)
        reference = Reference(bench.setup.fitness, FIXED[None], None)
        return aggregation.taught(bench, reference, Tuned("fixed", "fixed PID", theta=FIXED, evaluations=0))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("rounds") / "run"
    return path, taught(path)


def signal(path, number):
    name = "teaching_signal" if number == 1 else f"teaching_signal_{number}"
    return TeachingSignal.load(path / "stages" / name / "teaching_signal.csv")


def kb(path, number):
    name = "imitation" if number == 1 else f"imitation_{number}"
    return KnowledgeBase.load(path / "stages" / name / "knowledge_base.json")


def test_every_round_learns_from_all_rows_so_far(run):
    path, _ = run
    counts = [len(signal(path, number)) for number in range(1, ROUNDS + 1)]
    assert counts == [6, 6, 6]
    assert [kb(path, number).training["rows"] for number in range(1, ROUNDS + 1)] == [6, 12, 18]
    assert [kb(path, number).training["situations"] for number in range(1, ROUNDS + 1)] == [2, 2, 2]


def test_further_rounds_are_of_other_states_and_their_own_continuations(run):
    """All begin where the situations begin; from then on each round's controller goes its own way."""
    path, _ = run
    rounds = [signal(path, number) for number in range(1, ROUNDS + 1)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        np.testing.assert_array_equal(rounds[one].inputs[[0, 3]], rounds[other].inputs[[0, 3]])
        assert (rounds[one].inputs[[1, 2, 4, 5]] != rounds[other].inputs[[1, 2, 4, 5]]).any(axis=1).all()
        assert (rounds[one].fitness[[0, 3]] != rounds[other].fitness[[0, 3]]).all()


def test_the_best_round_on_validation_is_kept(run, tmp_path):
    path, found = run
    values = formats.read_json(path / "stages" / "teaching_rounds" / "rounds.json")["fitness"]
    assert list(found.fitness) == values
    assert len(set(values)) == ROUNDS
    best = int(np.argmin(values)) + 1
    assert found.kb.channels == kb(path, best).channels
    assert found.kb.training["teaching_rounds"] == values
    assert found.kb.training["teaching_round"] == best
    assert len(found.signal) == 6 * best
    found.kb.save(tmp_path / "kb.json")
    assert KnowledgeBase.load(tmp_path / "kb.json").training == found.kb.training


@pytest.mark.parametrize("best", range(1, ROUNDS + 1))
def test_whichever_round_is_best(run, best, tmp_path, monkeypatch):
    """Its knowledge base is handed on, with the rows that it learned from."""
    path, _ = run
    values = [2.0] * ROUNDS
    values[best - 1] = 1.0
    monkeypatch.setattr(aggregation, "_judged", lambda *_: values)
    found = taught(path)
    assert found.kb.channels == kb(path, best).channels
    names = [f"{name}{more}" for more in ("", ", round 2", ", round 3") for name in ("up", "down")]
    assert found.signal.situation_names == tuple(names[: 2 * best])
    assert found.signal.situation.tolist() == np.repeat(np.arange(2 * best), 3).tolist()
    found.signal.save(tmp_path / "signal.csv")
    np.testing.assert_array_equal(TeachingSignal.load(tmp_path / "signal.csv").gains, found.signal.gains)


def files(path):
    return {p.relative_to(path): p.read_bytes() for p in sorted((path / "stages").rglob("*")) if p.is_file()}


class StoppedError(Exception):
    """In place of a kill."""


@pytest.mark.parametrize(("where", "number"), [("imitate", 2), ("teach", 3), ("on_task", 1)])
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(run, where, number, tmp_path, monkeypatch):
    module = refining if where == "on_task" else knowledge
    calls, original = [], getattr(module, where)

    def stopping(*given, **options):
        calls.append(where)
        if len(calls) == number:
            raise StoppedError
        return original(*given, **options)

    monkeypatch.setattr(module, where, stopping)
    with pytest.raises(StoppedError):
        taught(tmp_path / "run")
    monkeypatch.undo()
    taught(tmp_path / "run")
    assert files(tmp_path / "run") == files(run[0])


def test_one_round_is_what_it_was(run, tmp_path):
    """The same first stages, no others, and nothing is judged."""
    found = taught(tmp_path / "run", rounds=1)
    once, several = files(tmp_path / "run"), files(run[0])
    contents = {name: text for name, text in once.items() if name.name != "stage.json"}
    assert {name.parent.name for name in contents} == {"teaching_signal", "imitation"}
    assert contents == {name: several[name] for name in contents}
    assert found.fitness == ()
    assert "teaching_round" not in found.kb.training
    assert len(found.signal) == 6


def test_rounds_are_counted_as_what_they_cost(run, tmp_path):
    """Three rounds of six windows with 8 candidates for 0.8 s each, in loops of 2.4 s in all."""
    with RunFolder.create(tmp_path / "run", command="design", config={}) as folder:
        several, one = (judging.taught_loops(Bench(setup(config(n)), folder, quiet=True)) for n in (3, 1))
    assert one == round(6 * 8 * 0.8 / 2.4)
    assert several == 3 * one


def test_rounds_must_be_of_the_same_situations(run):
    path, _ = run
    one = signal(path, 1)
    other = TeachingSignal(**{**vars(one), "situation_names": ("up", "another")})
    with pytest.raises(ValueError, match=r"must have the same situations \('up', 'down'\)"):
        TeachingSignal.of_rounds([one, other])


def test_the_taught_range_of_delays_and_noises_is_in_the_knowledge_base(tmp_path):
    """Each taught situation with every delay and noise, under a name of its own; the others are left as they are."""
    made = config(1, taught_delays=[0.0, 0.1], taught_noises=[0.01, 0.03], taught={"up": situation(1.0, t_end=0.8)})
    job = setup(made)
    found = [(s.name, s.delay, s.noise) for s in job.sets["taught"]]
    assert found == [
        ("up, delay 0 s, noise 0.01", 0.0, 0.01),
        ("up, delay 0 s, noise 0.03", 0.0, 0.03),
        ("up, delay 0.1 s, noise 0.01", 0.1, 0.01),
        ("up, delay 0.1 s, noise 0.03", 0.1, 0.03),
    ]
    assert [s.name for s in job.repetition("taught", 1)] == [name for name, _, _ in found]
    assert [(s.name, s.delay, s.noise) for s in job.sets["unforeseen"]] == [("far", 0.0, 0.0)]
    with RunFolder.create(tmp_path / "run", command="design", config={}) as folder, uncompiled():
        bench = Bench(job, folder, quiet=True)
        lessons = aggregation.taught(
            bench, Reference(job.fitness, FIXED[None], None), Tuned("fixed", "fixed PID", theta=FIXED, evaluations=0)
        )
    assert lessons.kb.valid_range == {"delay": [0.0, 0.1], "output_delay": [0.0, 0.0], "noise": [0.01, 0.03]}
    assert len(lessons.signal) == 4 * 2


@pytest.mark.parametrize("pooling", ["equal", "reference"])
def test_situations_weigh_as_asked_for(run, pooling, monkeypatch, tmp_path):
    """The weights that imitation gets; rows and gains are what they were."""
    seen, original = [], flcs.design
    monkeypatch.setattr(
        knowledge, "imitate", lambda rows, *more, **named: seen.append(rows) or original(rows, *more, **named)
    )
    rows = signal(run[0], 1)
    with RunFolder.create(tmp_path / "run", command="design", config={}) as folder, uncompiled():
        bench = Bench(setup(config(1, pooling)), folder, quiet=True)
        reference = Reference(bench.setup.fitness, FIXED[None], None)
        knowledge.imitation(bench, reference, Tuned("fixed", "fixed PID", theta=FIXED, evaluations=0), rows)
        values = bench.setup.task().quality(bench.setup.laws, FIXED[None])
        fitness = bench.setup.fitness.per_situation(values)[:, 0]
    np.testing.assert_array_equal(seen[0].gains, rows.gains)
    sums = np.bincount(seen[0].situation, weights=seen[0].weight)
    wanted = 1.0 if pooling == "equal" else fitness[1] / fitness[0]
    assert sums[0] / sums[1] == pytest.approx(wanted, rel=1e-12)
