"""A search that is stopped at any moment and started again gives the result of an uninterrupted one, bit for bit."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from sscq.search.checkpoint import Checkpoint, CheckpointError
from sscq.search.cmaes import CmaEs
from sscq.search.differential_evolution import DifferentialEvolution
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.search import evolve
from tests.sscq.search.search_problems import as_bytes

LOW, HIGH = (-4.0, 0.0, 1.0), (4.0, 3.0, 1.0)
START = ((1.0 / 3.0, 0.1, 1.0), (2.0, 2.0, 1.0))
METHODS = [
    GeneticAlgorithm(population=8, generations=9, stall_generations=6),
    GeneticAlgorithm(population=8, generations=9, renew_every=3, crossover="blend"),
    CmaEs(population=6, generations=15, step_tolerance=0.2, restarts=1),  # restarts and converges on the way
    CmaEs(population=6, evaluations=57, renew_every=3),
    DifferentialEvolution(population=8, evaluations=70),
    DifferentialEvolution(population=8, generations=9, renew_every=3),
]
NAMES = ["genetic", "genetic-renewed", "cma-es", "cma-es-renewed", "evolution", "evolution-renewed"]

every_method = pytest.mark.parametrize("config", METHODS, ids=NAMES)


class Killed(BaseException):
    """Stands for whatever ends the process."""


class Evaluate:
    """Sums of squares about a place that renewals move; fails for a part of the box; raises in a given call."""

    def __init__(self, dies_in=-1):
        self.dies_in, self.calls, self.place = dies_in, 0, 0.5

    def renew(self, generation):
        self.place = 0.5 + 0.1 * generation

    def __call__(self, genomes):
        self.calls += 1
        if self.calls - 1 == self.dies_in:
            raise Killed
        return np.where(genomes[:, 0] < -3.0, np.nan, ((genomes - self.place) ** 2).sum(axis=1))


def run(config, evaluate, checkpoint=None, seed=5, **others):
    arguments = {"low": LOW, "high": HIGH, "start": START, **others}
    return evolve(evaluate, config=config, seed=seed, checkpoint=checkpoint, **arguments)


@every_method
@pytest.mark.parametrize("every", [0.0, 1e9], ids=["each generation", "only when stopped"])
def test_an_error_in_any_call_loses_nothing(config, every, tmp_path):
    whole = Evaluate()
    expected = as_bytes(run(config, whole))
    for call in range(whole.calls):
        path = tmp_path / f"{call}.npz"
        with pytest.raises(Killed):
            run(config, Evaluate(dies_in=call), Checkpoint(path, every))
        assert path.exists() == (call > 0)
        rest = Evaluate()
        assert as_bytes(run(config, rest, Checkpoint(path, every))) == expected
        assert rest.calls == whole.calls - call


@every_method
def test_a_kill_without_warning_loses_at_most_what_was_not_written(config, tmp_path):
    path = tmp_path / "search.npz"

    class Copied(Evaluate):
        def __call__(self, genomes):
            if path.exists():
                shutil.copy(path, tmp_path / f"killed in call {self.calls}.npz")
            return super().__call__(genomes)

    expected = as_bytes(run(config, Copied(), Checkpoint(path, every=0.0)))
    copies = sorted(tmp_path.glob("killed*"))
    assert len(copies) > 5
    for copy in copies:
        assert as_bytes(run(config, Evaluate(), Checkpoint(copy))) == expected


def test_an_interrupt_between_two_statements_writes_a_whole_state(tmp_path, monkeypatch):
    """The unfinished generation had been entered in the memory and in the history: both must be left out."""
    checkpoint = Checkpoint(tmp_path / "search.npz")
    expected = as_bytes(run(METHODS[0], Evaluate()))
    with monkeypatch.context() as patch:
        stops = iter([False] * 4 + [True])

        def interrupted(*_, **__):
            if next(stops):
                raise KeyboardInterrupt
            return ""

        patch.setattr("sscq.search.search.Search._stop", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(METHODS[0], Evaluate(), checkpoint)
    assert as_bytes(run(METHODS[0], Evaluate(), checkpoint)) == expected


def test_a_finished_search_is_not_repeated(tmp_path):
    checkpoint = Checkpoint(tmp_path / "search.npz")
    first, again = run(METHODS[0], Evaluate(), checkpoint), Evaluate()
    assert as_bytes(run(METHODS[0], again, checkpoint)) == as_bytes(first)
    assert again.calls == 0


def test_progress_is_reported_for_new_generations_only(tmp_path):
    checkpoint, seen = Checkpoint(tmp_path / "search.npz"), []
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=4), checkpoint, report=seen.append)
    run(METHODS[0], Evaluate(), checkpoint, report=seen.append)
    assert [progress.generation for progress in seen] == list(range(len(seen)))


def test_a_memory_that_was_cut_is_restored(tmp_path, monkeypatch):
    monkeypatch.setattr("sscq.search.valuation.REMEMBERED", 10)
    expected = as_bytes(run(METHODS[0], Evaluate()))
    checkpoint = Checkpoint(tmp_path / "search.npz")
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=6), checkpoint)
    assert as_bytes(run(METHODS[0], Evaluate(), checkpoint)) == expected


def test_writes_are_no_closer_than_asked(tmp_path):
    now, times = [0.0], []

    class Watched(Checkpoint):
        def write(self, *arguments):
            times.append(now[0])
            super().write(*arguments)

    def evaluate(genomes):
        now[0] += 0.7
        return genomes[:, 0]

    run(METHODS[0], evaluate, Watched(tmp_path / "search.npz", every=2.0, clock=lambda: now[0]))
    assert len(times) > 2
    assert (np.diff([0.0, *times])[:-1] >= 2.0).all()  # the last one is that of the end


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.9, -1])
def test_a_truncated_file_is_refused_or_the_one_before_is_used(kept, tmp_path):
    path = tmp_path / "search.npz"
    expected = as_bytes(run(METHODS[0], Evaluate()))
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=5), Checkpoint(path, every=0.0))
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.warns(UserWarning, match=r"is damaged; going on from the one before, .*search\.npz\.previous"):
        result = run(METHODS[0], Evaluate(), Checkpoint(path))
    assert as_bytes(result) == expected

    alone = tmp_path / "alone.npz"
    alone.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.raises(CheckpointError, match=r"alone\.npz is damaged .* delete it to start again"):
        run(METHODS[0], Evaluate(), Checkpoint(alone))


def test_after_falling_back_the_next_write_keeps_an_undamaged_file_before_it(tmp_path):
    path = tmp_path / "search.npz"
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=4), Checkpoint(path, every=0.0))
    for _ in range(2):
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.warns(UserWarning, match="is damaged"), pytest.raises(Killed):
            run(METHODS[0], Evaluate(dies_in=1), Checkpoint(path, every=0.0))  # completes one generation
    assert as_bytes(run(METHODS[0], Evaluate(), Checkpoint(path))) == as_bytes(run(METHODS[0], Evaluate()))


def test_any_altered_byte_is_found_or_does_not_matter(tmp_path):
    path = tmp_path / "search.npz"
    config = replace(METHODS[0], generations=2)
    expected = as_bytes(run(config, Evaluate(), Checkpoint(path)))
    content, refused = path.read_bytes(), 0
    positions = np.random.Generator(np.random.PCG64(0)).integers(0, len(content), 60)
    for position in positions.tolist():
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :])
        try:
            assert as_bytes(run(config, Evaluate(), Checkpoint(path))) == expected
        except CheckpointError:
            refused += 1
    assert refused > 20


def test_a_kill_between_the_two_renames_leaves_the_one_before(tmp_path):
    path = tmp_path / "search.npz"
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=5), Checkpoint(path, every=0.0))
    path.unlink()
    assert as_bytes(run(METHODS[0], Evaluate(), Checkpoint(path))) == as_bytes(run(METHODS[0], Evaluate()))


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "search.npz"
    with pytest.raises(Killed):
        run(METHODS[0], Evaluate(dies_in=3), Checkpoint(path, every=1e9))
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            run(METHODS[0], Evaluate(), Checkpoint(path, every=0.0))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["search.npz"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": replace(METHODS[0], eta_crossover=20.0)}, r"config\.eta_crossover was 15\.0, is 20\.0"),
        ({"config": METHODS[2]}, r"method was 'GeneticAlgorithm', is 'CmaEs'"),
        ({"seed": 6}, "seed was 5, is 6"),
        ({"high": (4.0, 2.5, 1.0)}, r"box\.high\[1\] was 3\.0, is 2\.5"),
        ({"scale": ("linear", "step", "linear")}, r"box\.scale\[1\] was 'linear', is 'step'"),
        ({"start": START[:1]}, r"start was \[\[0\.3.*2\.0, 1\.0\]\], is \[\[0\.3"),
        ({"problem": "other plant"}, "problem was 'plant', is 'other plant'"),
    ],
)
def test_the_checkpoint_of_another_search_is_refused(change, message, tmp_path):
    arguments = {"config": METHODS[0], "problem": "plant"}
    changed = {**arguments, **change}
    path = tmp_path / "search.npz"
    run(arguments.pop("config"), Evaluate(), Checkpoint(path, problem=arguments.pop("problem")))
    before = path.read_bytes()
    checkpoint = Checkpoint(path, problem=changed.pop("problem"))
    with pytest.raises(CheckpointError, match=f"belongs to another search: .*{message}"):
        run(changed.pop("config"), Evaluate(), checkpoint, **changed)
    assert path.read_bytes() == before


def test_a_file_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "search.npz"
    with monkeypatch.context() as patch:
        patch.setattr("sscq.search.checkpoint.SCHEMA", "sscq.search/99")
        run(METHODS[0], Evaluate(), Checkpoint(path))
    with pytest.raises(CheckpointError, match=r"schema 'sscq\.search/99', this version reads 'sscq\.search/2'"):
        run(METHODS[0], Evaluate(), Checkpoint(path))


def test_a_file_of_pickles_is_not_executed(tmp_path):
    path = tmp_path / "search.npz"
    np.savez(path, notes=np.array([Killed], dtype=object), allow_pickle=True)
    with pytest.raises(CheckpointError, match="is damaged"):
        run(METHODS[0], Evaluate(), Checkpoint(path))


def test_folders_are_made_and_negative_times_refused(tmp_path):
    path = tmp_path / "new" / "folder" / "search.npz"
    run(METHODS[0], Evaluate(), Checkpoint(path))
    assert path.exists()
    with pytest.raises(ValueError, match=r"every .* must not be negative, got -1"):
        Checkpoint(path, every=-1.0)
