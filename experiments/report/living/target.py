"""The living page as an export: one HTML file, the proof by Node on its own scripts, and the list of all targets."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.report.living import page as living
from flcs.export import streams, targets
from flcs.export.proof import OK, Proof, unchecked
from flcs.export.scheduler import is_scheduler
from flcs.export.targets import Target

if TYPE_CHECKING:
    from flcs.export.job import Job

BOUND = 1e-9
"""Share of a measurement's range, over a whole closed loop: sums are rounded twice here and once there."""


def files(job: Job) -> dict[str, str]:
    """Return the page by its file name; nothing where no situation can be run in one, or a scheduler has no loop."""
    page = "" if is_scheduler(job.machine) else living.page(job)
    return {f"{job.machine.name}.html": page} if page else {}


def prove(job: Job, folder: Path) -> Proof:
    """Run the loop that is written in the page in every situation of it, and compare the plant's measurements."""
    if is_scheduler(job.machine):
        return unchecked("html", "no page: it shows a closed loop, and the scheduler alone has none")
    if not (folder / f"{job.machine.name}.html").exists():
        return unchecked("html", "no page: in every situation more lies between plant and controller than it can show")
    node = shutil.which("node")
    if node is None:
        return unchecked("html", "Node is not installed")
    version = f"Node {streams.output_of([node, '--version'])}"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.js"
        driver.write_text(_DRIVER, encoding="utf-8")
        try:
            told = json.loads(streams.output_of([node, str(driver), str(folder / f"{job.machine.name}.html")]))
        except subprocess.SubprocessError as error:
            return Proof("html", version, "failed", streams.told(error), BOUND)
    errors: dict[str, float] = {}
    for one in told["errors"].values():
        for signal, largest in one.items():
            errors[signal] = max(errors.get(signal, 0.0), float("inf") if largest is None else largest)
    good = bool(errors) and max(errors.values()) <= BOUND
    worst = max(errors, key=lambda signal: errors[signal], default="")
    reason = "" if good else f"{worst} differs by {errors.get(worst, 0.0):.3g} of its range; allowed are {BOUND:g}"
    shown = f"html/{job.machine.name}.html"
    numbers = {"situations": list(told["errors"]), "left_out": told["left_out"], "page": shown}
    return Proof("html", version, OK if good else "failed", reason, BOUND, told["samples"], errors, numbers)


_DRIVER = """"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
for (const part of ["machines", "loop", "data"]) {
  vm.runInThisContext(page.split(`<script id="script-${part}">`)[1].split("</script>")[0], { filename: part });
}
process.stdout.write(vm.runInThisContext(`(() => {
  const { about } = DATA, errors = {};
  let samples = 0;
  for (const packed of DATA.scenes) {
    const scene = unpacked(packed);
    const run = closedLoop(globalThis[about.plant], globalThis[about.controller], about, scene);
    errors[scene.name] = agreement(about, scene, run);
    samples += scene.samples;
  }
  return JSON.stringify({ errors, samples, left_out: DATA.left_out });
})()`));
"""

PAGE = Target("html", "A living page: the loop in a browser", files, prove)
TARGETS: dict[str, Target] = {
    one.name: one
    for other in targets.TARGETS.values()
    for one in ((other, PAGE) if other.name == "python" else (other,))
}
"""All that can be written, by name: the targets of :mod:`flcs.export.targets`, and this page among them."""
