"""A small run with three stages, killed at each of its moments in turn; started by test_run_folder.py.

Run as ``python killed_runs.py FOLDER STRIDE``, for every STRIDE-th moment; prints how many there are. It forks, so it
runs in a process of its own, without threads. The second session is killed too, at another place; the third one
finishes.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

from experiments.runtime import formats, versions
from experiments.runtime.run_folder import RunFolder
from plants.core import atomic_files

OPERATIONS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir"}


class Axe:
    """Kills this process at its n-th moment; it cannot be laid down again, so it lives in a fork.

    Moments are the file operations, and between them each line of the module that writes files.
    """

    def __init__(self, moment):
        self.left = moment
        sys.addaudithook(self.before_operation)
        sys.settrace(self.on_call)

    def before_operation(self, event, arguments):
        if event in OPERATIONS and not (event == "open" and "killed" not in str(arguments[0])):
            self.strike()

    def on_call(self, frame, _event, _argument):
        return self.on_line if frame.f_code.co_filename == atomic_files.__file__ else None

    def on_line(self, _frame, event, _argument):
        if event == "line":
            self.strike()
        return self.on_line

    def strike(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def search(checkpoints):
    """Count to three with a checkpoint at each number."""
    place = checkpoints / "search.json"
    done = formats.read_json(place) if place.is_file() else []
    for number in range(len(done), 3):
        done.append(np.sin(float(number)))
        formats.write_json(place, done)
    return done


def save_search(folder, result):
    formats.write_json(folder / "best.json", result)
    formats.write_npz(folder / "history.npz", {"sines": np.array(result)})


def session(path):
    """Begin the run, or go on with it."""
    settings = {"command": "design"}
    if (path / "config.json").exists():
        folder = RunFolder.resume(path, **settings)
    else:
        folder = RunFolder.create(path, **settings, config={"seed": 1}, inputs=[__file__])
    with folder:
        best = folder.stage("search", search, save_search, lambda place: formats.read_json(place / "best.json"))
        table = folder.stage(
            "table",
            lambda _: [[x, x * x] for x in best],
            lambda place, rows: formats.write_csv(place / "table.csv", ["x", "y"], rows),
            lambda place: (place / "table.csv").read_text(),
        )
        folder.write_json("metrics.json", {"best": max(best), "length": len(table)})


def forked(path, moment):
    """Run a session in a fork, killed at the given moment (0: never); return whether it came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Axe(moment)
            session(path)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit(f"a session failed instead of being killed, at moment {moment}")
    return os.WIFEXITED(status)


def content(path):
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != "times.json")
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def main():
    root = Path(sys.argv[1])
    versions.versions = lambda: {"sscq": "0"}  # asking for the real ones takes longer than all the rest
    forked(root / "killed-never", 0)
    whole = content(root / "killed-never")
    moment, stride = 1, int(sys.argv[2])
    while True:
        path = root / f"killed-{moment}"
        if forked(path, moment):
            break
        forked(path, 1 + moment * 7 % 150)
        if not forked(path, 0) or content(path) != whole:
            differing = {
                name for name in whole.keys() | content(path).keys() if whole.get(name) != content(path).get(name)
            }
            raise SystemExit(f"killed at moment {moment}, the run ended with other files: {sorted(differing)}")
        moment += stride
    print(moment - 1)


if __name__ == "__main__":
    main()
