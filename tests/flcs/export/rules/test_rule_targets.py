"""Targets for people with fuzzy files, MATLAB, ONNX and tables: written, run by other programs, and caught when wrong."""

import json
import re
import shutil
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from flcs import Inference, LookupTable
from flcs.exchange import fis_reader, system_of
from flcs.export import onnx
from flcs.export import scheduler as scheduler_module
from flcs.export import tables as export_tables
from flcs.export.matlab import functions, octave, tables, target
from flcs.export.pid_block import VendorForm
from flcs.export.rules import fcl, files, fis, fuzzylite, skfuzzy
from flcs.export.rules.files import gain_points, proof_of
from flcs.export.scheduler import scheduler_job
from flcs.export.tables import tables_of
from flcs.export.targets import TARGETS
from tests.reference.exports import job_of, knowledge_base

needs_octave = pytest.mark.skipif(octave.program() is None, reason="octave is not installed")
needs_fuzzylite = pytest.mark.skipif(fuzzylite.program() is None, reason="fuzzylite is not installed")
needs_onnx = pytest.mark.skipif(not (find_spec("onnx") and find_spec("onnxruntime")), reason="onnx is not installed")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Three hundred random inputs in place of ten thousand."""
    monkeypatch.setattr(scheduler_module, "RANDOM", 300)


@pytest.fixture(scope="module")
def small():
    """One situation; e and e_rate schedule, so that the rules have no state."""
    kb = knowledge_base()
    base = kb.channels[0]
    e = base.inputs[0]
    inputs = (e, replace(e, name="e_rate", low=-2.0, high=2.0, centres=(-2.0, 0.2, 2.0), widths=()))
    kb = replace(kb, channels=(replace(base, inputs=inputs),), tick=None)
    return job_of(kb, ({"reference": 1.0, "t_end": 0.5},))


def written(job, name, folder):
    for file, content in TARGETS[name].files(job).items():
        path = folder / file
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def shortened(job, count):
    """The job with the first samples of every sequence."""
    recordings = tuple(replace(r, inputs=r.inputs[:count], outputs=r.outputs[:count]) for r in job.recordings)
    short = replace(job, recordings=recordings)
    short.__dict__["sequences"] = {name: rows[:count] for name, rows in job.sequences.items()}
    return short


def spoilt(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def missing(monkeypatch):
    """Nothing of other people is installed."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    for module in (onnx, skfuzzy):
        monkeypatch.setattr(module, "find_spec", lambda _: None)


@pytest.mark.parametrize("name", ["matlab", "fis", "fcl", "onnx", "skfuzzy"])
def test_without_a_checker_nothing_is_said_to_be_right(small, tmp_path, monkeypatch, name):
    missing(monkeypatch)
    proof = TARGETS[name].prove(small, written(small, name, tmp_path))
    assert proof.status == "not checked"
    assert "not installed" in proof.reason


@needs_octave
def test_matlab_is_the_machine_sample_by_sample(small, tmp_path):
    folder = written(small, "matlab", tmp_path)
    short, program = shortened(small, 50), octave.program()
    good = target._compared(short, program, "octave", folder)
    assert (good.status, good.samples) == ("ok", 150)
    spoilt(folder, "van_der_pol_controller_step.m", " * ", " * 1.000001 * ")
    (folder / "van_der_pol_controller_selftest.m").write_text("function van_der_pol_controller_selftest()\nend\n")
    assert target._compared(short, program, "octave", folder).status == "failed"


@needs_octave
def test_octaves_self_test_and_tables(small, tmp_path):
    folder, name = written(small, "matlab", tmp_path), "van_der_pol_scheduler"
    octave.run(octave.program(), folder, f"{name}_selftest(); found = given;", {"any": np.zeros((1, 1))}, 1)
    assert tables.checked(small.kb, name, small.form, octave.program(), folder) < 1e-12
    spoilt(folder, f"{name}_selftest.m", "expected = [\n    ", "expected = [\n    1 + ")
    with pytest.raises(Exception, match="sample 1 differs"):
        octave.run(octave.program(), folder, f"{name}_selftest(); found = given;", {"any": np.zeros((1, 1))}, 1)


def test_matlab_gets_names_that_it_knows(small):
    files = functions.texts(replace(small.machine, name="_x"))
    assert files
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}\.m", name) for name in files)
    assert all(f"{name.removesuffix('.m')}(" in text for name, text in files.items())


@needs_fuzzylite
@pytest.mark.parametrize(("name", "file", "old", "new"), [
    ("fcl", "van_der_pol_position.fcl", "TERM rule5 := ", "TERM rule5 := 1"),
    ("fis", "van_der_pol_position.fis", "MF5='rule5':'constant',[", "MF5='rule5':'constant',[1"),
])  # fmt: skip
def test_rules_are_run_by_fuzzylite(small, tmp_path, monkeypatch, name, file, old, new):
    monkeypatch.setattr(octave, "program", lambda: None)  # minutes for ten thousand inputs
    folder = written(small, name, tmp_path)
    proof = TARGETS[name].prove(small, folder)
    assert proof.status == "ok", proof.reason
    assert proof.samples > 9_000
    assert proof.largest < 1e-12
    spoilt(folder, file, old, new)
    wrong = TARGETS[name].prove(small, folder)
    assert (wrong.status, wrong.reason) == ("failed", "the knowledge base that comes back is another one")
    monkeypatch.setattr(files, "comes_back", lambda *_: "")
    assert "differs by" in TARGETS[name].prove(small, folder).reason


@needs_octave
def test_fis_is_run_by_octaves_toolkit(small, tmp_path):
    folder = written(small, "fis", tmp_path)
    if not fis._has_toolkit(octave.program(), folder):
        pytest.skip("octave has no fuzzy-logic-toolkit")
    points = gain_points(small.kb, 0, count=200)
    found = fis._in_octave(octave.program(), folder / "van_der_pol_position.fis", points, 90)
    assert len(found) == 44
    assert proof_of("fis", "octave", 1e-12, [(points, found)]).status == "ok"
    assert proof_of("fis", "octave", 1e-12, [(points, 1.001 * found)]).status == "failed"


@pytest.mark.slow
@needs_octave
def test_octaves_toolkit_gives_the_same_gains_on_ten_thousand_inputs(small, tmp_path, monkeypatch):
    folder = written(small, "fis", tmp_path)
    if not fis._has_toolkit(octave.program(), folder):
        pytest.skip("octave has no fuzzy-logic-toolkit")
    monkeypatch.setattr(fis, "EFFORT", 10**9)  # all of them: two minutes
    points = gain_points(small.kb, 0)
    found = fis._in_octave(octave.program(), folder / "van_der_pol_position.fis", points, 9)
    assert len(found) == 10_000
    proof = proof_of("fis", "octave", 1e-12, [(points, found)])
    assert (proof.status, proof.samples) == ("ok", 10_000)


@pytest.mark.parametrize("name", ["fis", "fcl", "skfuzzy"])
def test_what_cannot_be_carried_is_not_written(small, tmp_path, name):
    job = replace(small, kb=replace(small.kb, inference=Inference(form="tsukamoto")))
    assert TARGETS[name].files(job) == {}
    proof = TARGETS[name].prove(job, tmp_path)
    assert (proof.status, proof.reason[:12]) == ("not checked", "not written:")
    assert "weighs rules otherwise" in proof.reason


def test_points_are_where_rules_fire_and_know_how_often_a_file_is_the_controller(small):
    kb = small.kb.with_channel(0, small.kb.channels[0].switched([k == 4 for k in range(9)]))
    points = gain_points(kb, 0, count=2000)
    assert len(points.inputs) == 2000
    assert (kb.firing(points.inputs)[:, 4] > 1e-3).all()
    only = np.tile(kb.channels[0].rules[4].gains, (2000, 1))
    np.testing.assert_allclose(points.rules_alone, only, rtol=1e-11)  # divided by firing strengths above 1e-3
    expected = np.mean(kb.firing(gain_points(small.kb, 0, count=2000).inputs)[:, 4] >= 0.5)
    assert points.same == pytest.approx(expected, abs=0.01)
    assert gain_points(small.kb, 0, count=2000).same == 1.0
    assert (points.firing_above(0.01).least > 0.01).all()


def test_files_and_complement_come_back(small, tmp_path):
    folder = written(small, "fis", tmp_path)
    assert files.comes_back(small.kb, folder, "fis", fis_reader.read) == ""
    document = json.loads((folder / "complement.json").read_text())
    assert document["rest"]["plant"] == "van_der_pol"
    assert "rules" in document["rest"]["channels"][0]


@needs_onnx
@pytest.mark.parametrize("shape", ["triangular", "gaussian"])
def test_onnx_is_the_scheduler_with_its_memory(tmp_path, shape):
    import onnx

    job = job_of(knowledge_base(shape=shape, slew=0.5), ({"reference": 1.0, "t_end": 0.2},))
    alone = scheduler_job(job)
    alone.__dict__["sequences"] = {name: rows[:300] for name, rows in alone.sequences.items()}
    folder = written(job, "onnx", tmp_path)
    proof = TARGETS["onnx"].prove(job, folder)
    assert (proof.status, proof.samples) == ("ok", 900)
    model = onnx.load(folder / "van_der_pol_scheduler.onnx")
    told = {item.key: item.value for item in model.metadata_props}
    assert told["inputs"].split(",") == [s.name for s in alone.machine.inputs]
    assert [float(v) for v in told["first_memory"].split(",")] == list(alone.machine.memory.values())
    alone.__dict__["answers"] = {name: 1.0001 * rows for name, rows in alone.answers.items()}
    assert TARGETS["onnx"].prove(job, folder).status == "failed"


@needs_onnx
def test_onnx_runs_in_batches(small, tmp_path):
    import onnxruntime

    folder, alone = written(small, "onnx", tmp_path), scheduler_job(small)
    session = onnxruntime.InferenceSession(folder / "van_der_pol_scheduler.onnx", providers=["CPUExecutionProvider"])
    rows = alone.recordings[0].inputs
    memory = np.tile(list(alone.machine.memory.values()), (len(rows), 1))
    gains = session.run(["outputs"], {"inputs": rows, "memory": memory})[0][:, :3]
    np.testing.assert_allclose(gains, small.kb.gains(rows[:, :2]), rtol=1e-13)


def test_tables_agree_in_all_formats_and_with_the_rules(small, tmp_path):
    folder = written(small, "tables", tmp_path)
    proof = TARGETS["tables"].prove(small, folder)
    assert proof.status == "ok", proof.reason
    assert 0.0 < proof.largest <= 0.01
    (one,) = tables_of(small.kb, small.form)
    back = LookupTable.load(folder / "van_der_pol_position.csv")
    np.testing.assert_array_equal(back.values, one.table.values)
    with np.load(folder / "van_der_pol_position.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["Ti"] * arrays["ki"], arrays["Ti"] * one.table.values[..., 1])
        np.testing.assert_allclose(arrays["K"] / arrays["Ti"], arrays["ki"], rtol=1e-12)
    lines = (folder / "van_der_pol_position_forms.csv").read_text().splitlines()
    assert lines[0].startswith("e,e_rate,K,Ti_s,Td_s,standard,Ks,Tis_s,Tds_s,series")
    assert len(lines) == one.table.n_nodes + 1
    spoilt(folder, "van_der_pol_position.csv", "\n-1.0,-2.0,", "\n-1.0,-2.0,1")
    assert TARGETS["tables"].prove(small, folder).reason == "position: csv, json and npz differ"


def test_errors_of_interpolated_forms_are_those_of_their_gains(small):
    (one,) = tables_of(small.kb, VendorForm("min"))
    assert set(one.errors) == {"standard"} if not one.forms["series"].all() else {"standard", "series"}
    assert 0.0 < one.errors["standard"] < 0.05
    assert system_of(small.kb).name == "van_der_pol_position"


def test_skfuzzy_file_is_run_in_a_process_of_its_own(small, tmp_path, monkeypatch):
    pytest.importorskip("skfuzzy", reason="scikit-fuzzy is not installed")
    monkeypatch.setattr(skfuzzy, "_EFFORT", 1)
    folder = written(small, "skfuzzy", tmp_path)
    proof = TARGETS["skfuzzy"].prove(small, folder)
    assert proof.status == "ok", proof.reason
    assert proof.samples == 20


def test_bounds_are_said():
    assert fcl.BOUND == target.BOUND == onnx.BOUND == 1e-12
    assert export_tables.TARGET in TARGETS
