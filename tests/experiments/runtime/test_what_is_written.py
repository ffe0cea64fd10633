"""A design writes into its run's folder, the cache folder and the temporary folder, and sends nothing anywhere."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.experiments.front import smallest

ROOT = Path(__file__).parents[3]

WATCHED = """
    import json, os, sys, tempfile
    written, called = set(), set()
    FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def watch(event, arguments):
        if event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[2] & FLAGS:
            written.add(os.path.realpath(os.fsdecode(arguments[0])))
        elif event == "os.remove" and arguments[-1] != -1:
            pass  # by a folder's handle, as temporary folders are emptied
        elif event in {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.truncate", "os.chmod"}:
            places = arguments[:2] if event in {"os.rename", "os.link", "os.symlink"} else arguments[:1]
            written.update(os.path.realpath(os.fsdecode(place)) for place in places if isinstance(place, (str, bytes)))
        elif event in {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "urllib.Request"}:
            called.add(f"{event}{arguments[1:]}")

    sys.addaudithook(watch)
    from experiments import cli
    try:
        cli.main(sys.argv[1:])
    finally:
        print("watched:" + json.dumps([sorted(written), sorted(called)]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["design", *smallest.words(**{"ladder.further": [], "exports.to": ["python", "tables"]})],
        ["simulate", "plant=pendulum", "t_end=1"],
    ],
    ids=["design", "simulate"],
)
def test_nothing_is_written_elsewhere_and_nothing_sent(tmp_path, words):
    places = {name: tmp_path / name for name in ("here", "home", "cache", "tmp")}
    for place in places.values():
        place.mkdir(mode=0o700)
    environment = {
        **os.environ, "HOME": str(places["home"]), "SSCQ_CACHE": str(places["cache"]), "TMPDIR": str(places["tmp"]),
        "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    command = [sys.executable, "-c", textwrap.dedent(WATCHED), *words, "output=run"]
    done = subprocess.run(command, cwd=places["here"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written, called = json.loads(done.stdout.rpartition("watched:")[2])
    allowed = (places["here"] / "run", places["cache"], places["tmp"])
    here = str(places["here"])  # is there, and made sure of
    elsewhere = [p for p in written if p != here and not any(Path(p).is_relative_to(one) for one in allowed)]
    assert [place for place in elsewhere if not place.startswith(("/dev/", "/proc/"))] == []
    assert called == []
    assert any(Path(place).is_relative_to(places["here"] / "run") for place in written)
    assert sorted(item.name for item in places["here"].iterdir()) == ["run"]
    assert list(places["home"].iterdir()) == []
    assert list(places["tmp"].iterdir()) == []
