"""A sweep of twelve runs, two of them bad, killed twice and gone on with: each good run as it is alone."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.slow]

GOOD = tuple(range(1, 11))
COMMAND = (sys.executable, "-m", "experiments.cli", "simulate")
COMMON = ("plant=van_der_pol", "quiet=true", "hydra/hydra_logging=none")
LAUNCHERS = {
    "basic": (),
    "joblib": ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
    "submitit": ("hydra/launcher=submitit_local",),
}
_PATIENCE = 900.0  # s, beside other work


def finished():
    return {path.parent.name for path in Path("S").glob("*/report.html")}


def killed_after(words, n):
    """Start, wait until `n` runs of the sweep are finished, kill the whole process group; how many were finished then."""
    process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    try:
        while len(finished()) < n:
            assert process.poll() is None, "the sweep ended before it was killed"
            assert time.monotonic() - begun < _PATIENCE
            time.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return len(finished())


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_twelve_runs_two_of_them_bad_are_killed_twice_and_end_as_single_runs(launcher):
    pytest.importorskip({"basic": "hydra", "joblib": "joblib", "submitit": "submitit"}[launcher])
    # Half a hundred thousand steps each: runs long enough to be killed amid. The step of the bad ones diverges.
    steps = [f"{0.0004 / n:.8g}" for n in GOOD]
    steps[3:3], steps[9:9] = ["2.0"], ["3.0"]
    words = [*COMMAND, "-m", *COMMON, "t_end=20", f"step={','.join(steps)}", *LAUNCHERS[launcher], "hydra.sweep.dir=S"]
    assert killed_after(words, 3) < len(GOOD)
    assert killed_after(words, 6) < len(GOOD)
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert finished() == {str(n) for n in range(12)} - {"3", "9"}
    assert done.stderr.count("step=2.0") == done.stderr.count("step=3.0") == 1
    for number, step in enumerate(steps):
        if number in {3, 9}:
            continue
        alone = f"alone-{number}"
        subprocess.run(
            [*COMMAND, *COMMON, "t_end=20", f"step={step}", f"output={alone}"], check=True, capture_output=True
        )
        for name in ("trajectory.csv", "metrics.json"):
            assert Path("S", str(number), name).read_bytes() == Path(alone, name).read_bytes()
