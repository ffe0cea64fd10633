"""The living page: its own loop against the compiled simulation, in Node and in Chromium, and what dragging does."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import sscq
from controllers import PID
from experiments.report.living import page as living_page
from flcs.export.proof import FAILED, OK, UNCHECKED
from flcs.export.scheduler import scheduler
from tests.reference.exports import job_of, knowledge_base

SITUATIONS = (
    {"reference": 1.0, "noise": 0.01, "excitation": 0.3, "t_end": 2.0},
    {"reference": 0.5, "delay": 0.0125, "parameters": {"mu": 2.0}, "initial": [0.5, 0.0]},
    {"reference": 1.0, "quantisation": 0.1},
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def own_job():
    return job_of(knowledge_base(), SITUATIONS)


@pytest.fixture(scope="module")
def page(own_job):
    return living_page.page(own_job)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
def test_the_proof_holds_and_finds_a_changed_page(own_job, page, tmp_path):
    ((name, text),) = living_page.files(own_job).items()
    assert text == page
    (tmp_path / name).write_text(page)
    proof = living_page.prove(own_job, tmp_path)
    assert (proof.status, proof.reason) == (OK, "")
    assert set(proof.errors) == {"position", "velocity"}
    assert proof.largest < 1e-12  # a loop that is stable forgets what rounding does
    assert proof.numbers == {
        "situations": ["s0", "s1"], "left_out": {"s2": "quantisation between plant and controller"},
        "page": "html/van_der_pol_controller.html",
    }  # fmt: skip
    assert proof.samples == 300
    for old, new in (
        ("step - whole", "step"),
        (r"scene\.noise\(k, j\)", "0"),
        (r"m\[\d+\] = v\d+; // x_velocity", ";"),
    ):
        changed, count = re.subn(old, new, page)
        assert count, old
        (tmp_path / name).write_text(changed)
        assert living_page.prove(own_job, tmp_path).status == FAILED, old


_DRAGGED = """
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
for (const part of ["machines", "loop", "data"]) {
  vm.runInThisContext(page.split(`<script id="script-${part}">`)[1].split("</script>")[0]);
}
process.stdout.write(vm.runInThisContext(`(() => {
  const { about } = DATA, change = ${process.argv[3]};
  const run = closedLoop(globalThis[about.plant], globalThis[about.controller], about, unpacked(DATA.scenes[0]), change);
  return JSON.stringify([...run.outputs.position]);
})()`));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
def test_what_is_dragged_is_what_the_simulator_does(own_job, page, tmp_path):
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "drag.js").write_text(_DRAGGED)
    change = {
        "authority": 0, "gains": {"kp": 2.0, "ki": 0.5}, "parameters": {"p_mu": 1.5}, "reference": 2,
        "shift": {"position": 0.1}, "disturbance": 0,
    }  # fmt: skip
    command = ["node", str(tmp_path / "drag.js"), str(tmp_path / "page.html"), json.dumps(change)]
    dragged = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    kp, ki, kd = own_job.kb.channels[0].reference
    mu = dict(zip((q.name for q in own_job.plant.parameters), own_job.plant.nominal(), strict=True))["mu"]
    situation = sscq.Situation(name="s0", reference=2.1, noise=0.01, parameters={"mu": 1.5 * mu}, t_end=2.0)
    law = PID(sample_time=0.01, derivative_filter_time=0.03)
    run = sscq.record(own_job.plant, law, np.array([[2.0 * kp, 0.5 * ki, kd]]), situation, step=0.005)
    expected = run.group("outputs")[:-1:2, 0]
    # the references differ in their last place (2 + 0.1, 2.1); the loop is stable
    np.testing.assert_allclose(dragged, expected, rtol=0.0, atol=1e-12)


def test_factors_of_one_change_no_bit(own_job):
    rows = own_job.sequences["random inputs"][:300]
    np.testing.assert_array_equal(living_page.draggable(own_job.machine).run(rows), own_job.machine.run(rows))


def test_without_a_situation_to_show_there_is_no_page(tmp_path):
    job = job_of(knowledge_base(), ({"reference": 1.0, "quantisation": 0.1, "t_end": 0.1},))
    assert living_page.files(job) == {}
    assert living_page.prove(job, tmp_path).status == "not checked"


def test_the_scheduler_alone_has_no_page(own_job, tmp_path):
    alone = replace(own_job, machine=scheduler(own_job.kb, own_job.plant, own_job.step))
    assert living_page.files(alone) == {}
    proof = living_page.prove(alone, tmp_path)
    assert (proof.status, proof.reason[:7]) == (UNCHECKED, "no page")


def test_a_page_stays_small(own_job, monkeypatch):
    monkeypatch.setattr(living_page, "LARGEST", 100)
    found, left_out, _ = living_page.scenes(own_job)
    assert [scene["name"] for scene in found] == ["s0"]
    assert left_out["s1"] == "it would make the page too large"


def test_nothing_comes_from_a_network(page):
    assert "default-src 'none'" in unescape(page)
    assert not re.findall(r"(?:src|href)=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def browsed(page, tmp_path, script=""):
    """The page's document after Chromium has run it, and `script` behind it."""
    file = tmp_path / "page.html"
    assert page.count("<head>") == page.count("</body>") == 1
    # A busy machine may draw no frame in the budget of virtual time; timers keep to it.
    framed = page.replace("<head>", "<head><script>requestAnimationFrame = (f) => setTimeout(f, 0);</script>")
    file.write_text(framed.replace("</body>", f"<script>{script}</script></body>"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"]
    command = [CHROMIUM, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_chromium_runs_it_and_dragging_the_authority_to_nothing_leaves_the_reference_gains(page, tmp_path):
    drag = """
      const named = (word) => [...document.querySelectorAll("label")].find((one) => one.textContent.includes(word)).control;
      const pull = (word, value) => { named(word).value = value; named(word).dispatchEvent(new Event("input")); };
      pull("Authority", 0); pull("mu", 1.5); pull("References", 2);
    """
    document = browsed(page, tmp_path, drag)
    agreement = json.loads(unescape(re.findall(r'data-agreement="(.*?)"', document)[0]))
    assert set(agreement) == {"s0", "s1"}
    assert max(agreement.values()) < 1e-12
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", document) if "<td>" in row]
    assert len(rows) == 4
    assert all(now == reference_gains for _, reference_gains, now in rows)  # the schedule has nothing to say any more
    assert all(now != designed for designed, _, now in rows)
    assert "differs from the compiled simulation by at most" in document
    assert "s2: quantisation between plant and controller" in document
