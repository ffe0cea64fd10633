"""Branches in processes of their own: what they may not change, and how they end."""

import os
import signal
import subprocess
import sys
import time

import pytest

from experiments.runtime import side_by_side
from experiments.runtime.run_folder import RunFolder

pytestmark = pytest.mark.skipif(not side_by_side.POSSIBLE, reason="branches run one after the other here")


def wait_until(holds):
    """Wait for another process, also on a machine that does something else for a while."""
    ended = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < ended
        time.sleep(0.005)


def noting(path, together=1):
    """A branch that notes who did it, from when to when; it ends once so many have begun."""

    def branch(tell):
        begun = time.monotonic()
        path.with_suffix(".begun").touch()
        time.sleep(0.1)
        wait_until(lambda: len(list(path.parent.glob("*.begun"))) >= together)
        with path.open("a") as file:
            file.write(f"{os.getpid()} {begun} {time.monotonic()}\n")
        tell(["done", path.name])

    return branch


def spans(folder):
    notes = [path for path in folder.iterdir() if not path.suffix]
    return [tuple(map(float, line.split())) for path in notes for line in path.read_text().splitlines()]


def most_at_once(folder):
    several = spans(folder)
    return max(sum(begin <= at < end for _, begin, end in several) for _, at, _ in several)


@pytest.mark.parametrize("threads", [2, 3])
def test_no_more_branches_run_at_once_than_there_are_threads_and_all_are_heard(tmp_path, threads):
    heard = []
    side_by_side.do([noting(tmp_path / f"{k}", threads) for k in range(5)], threads, heard.append)
    assert sorted(heard) == [["done", f"{k}"] for k in range(5)]
    assert len({process for process, *_ in spans(tmp_path)}) == 5
    assert most_at_once(tmp_path) == threads


def test_a_branch_that_waits_for_its_own_gives_its_place_to_them(tmp_path):
    def with_branches(k):
        return lambda tell: side_by_side.do([noting(tmp_path / f"{k}{j}", 2) for j in range(3)], 1, tell)

    heard = []
    side_by_side.do([with_branches(k) for k in range(2)], 2, heard.append)
    assert sorted(heard) == [["done", f"{k}{j}"] for k in range(2) for j in range(3)]
    assert most_at_once(tmp_path) == 2


def test_a_branch_that_fails_or_is_killed_leaves_its_place_to_others(tmp_path):
    def fails(_):
        raise ValueError

    def dies(_):
        os.kill(os.getpid(), signal.SIGKILL)

    side_by_side.do([fails, dies, dies, *(noting(tmp_path / f"{k}", 2) for k in range(3))], 2, lambda _: None)
    assert most_at_once(tmp_path) == 2


def test_lines_of_one_branch_at_a_time_are_shown(tmp_path):
    """The second tells all it has to say while the first is not done."""
    begun, heard_out = tmp_path / "begun", tmp_path / "heard_out"

    def first(tell):
        tell([side_by_side.LINE, "a0"])
        begun.touch()
        wait_until(heard_out.exists)
        tell([side_by_side.LINE, "a1"])

    def second(tell):
        wait_until(begun.exists)
        for k in range(3):
            tell([side_by_side.LINE, f"b{k}"])
        heard_out.touch()

    heard = []
    side_by_side.do([first, second], 2, heard.append)
    assert [text for _, text in heard] == ["a0", "a1"]


def test_an_interruption_ends_all_branches():
    def interrupted(_):
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side.do([lambda _: time.sleep(120.0), lambda tell: tell(["now"])], 2, interrupted)
    assert time.monotonic() - begun < 60.0  # it waits for all of them: for two minutes, were they not ended


KILLED = """
import os, sys, time
from pathlib import Path
from experiments.runtime import side_by_side
def branch(tell):
    tell([str(os.getpid())])
    time.sleep(600)
side_by_side.do([branch, branch], 2, lambda message: print(*message, flush=True))
"""


def test_branches_end_with_a_process_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as job:
        processes = [int(job.stdout.readline()) for _ in range(2)]
        job.kill()
    wait_until(lambda: not any(os.path.exists(f"/proc/{one}") for one in processes))  # noqa: PTH110


def kept(folder, name, value):
    def compute(_):
        with folder.path.joinpath("computed").open("a") as file:
            file.write(f"{name}\n")
        return value

    def save(place, what):
        (place / "value").write_text(str(what))

    return folder.stage(name, compute, save, lambda place: int((place / "value").read_text()))


def run(folder):
    """Two stages, three branches with one each, and one that hangs on all."""
    first = kept(folder, "first", 1)
    branches = [folder.branch() for _ in range(3)]
    found = [kept(branch, f"branch_{k}", 10 * k + first) for k, branch in enumerate(branches)]
    folder.join(branches)
    return kept(folder, "last", sum(found))


def test_a_branch_hangs_on_what_was_before_and_what_follows_on_all(tmp_path):
    with RunFolder.create(tmp_path / "run", command="design", config={}) as folder:
        assert run(folder) == 33
    for removed, again in (("branch_1", ["branch_1"]), ("last", ["last"]), ("first", ["first"])):
        folder.path.joinpath("computed").unlink()
        for file in folder.path.joinpath("stages", removed).iterdir():
            file.unlink()
        with RunFolder.resume(tmp_path / "run", command="design") as folder:
            assert run(folder) == 33
        assert folder.path.joinpath("computed").read_text().split() == again  # what came out is the same: no more


def test_two_branches_have_no_stage_of_one_name(tmp_path):
    with RunFolder.create(tmp_path / "run", command="design", config={}) as folder:
        branches = [folder.branch() for _ in range(2)]
        for branch in branches:
            kept(branch, "one", 1)
        with pytest.raises(ValueError, match="'one' has been run already"):
            folder.join(branches)
