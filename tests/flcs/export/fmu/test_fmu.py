"""Functional mock-up units: their C layer, the archive, and the proof by FMPy."""

import ctypes
import io
import re
import shutil
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from controllers import PID
from flcs.export.c import source
from flcs.export.controller import installed
from flcs.export.fmu import archive, target
from flcs.export.fmu.description import exponents
from plants.adapters.fmu import FmuDeclaration, fmu_plant
from tests.reference.exports import job_of, knowledge_base

GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def job():
    """A short situation; the sample time is 10 ms."""
    return job_of(knowledge_base(), ({"reference": 1.0, "t_end": 0.5},))


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("1", {}), ("m/s^2", {"m": 1, "s": -2}), ("N s/m", {"kg": 1, "s": -1}), ("W/(m^2 K)", {"kg": 1, "s": -3, "K": -1}),
        ("N m/rad", {"kg": 1, "m": 2, "s": -2, "rad": -1}), ("ohm", {"kg": 1, "m": 2, "s": -3, "A": -2}),
        ("furlong", None), ("", None), ("m/", None),
    ],
)  # fmt: skip
def test_units_in_base_units(unit, expected):
    assert exponents(unit) == expected


def test_archive_is_the_same_twice_and_another_controller_has_another_token(job):
    other = installed(knowledge_base(slew=1.0), job.plant, job.step)
    assert archive.archive(job.machine, 3) == archive.archive(job.machine, 3)
    assert archive.sources(job.machine, 3)[1] != archive.sources(other, 3)[1]
    assert archive.sources(job.machine, 3)[1] != archive.sources(job.machine, 2)[1]


@pytest.mark.parametrize("version", [2, 3])
def test_description_states_units_ranges_starts_and_step(job, version):
    with zipfile.ZipFile(io.BytesIO(archive.archive(job.machine, version))) as unit:
        root = ET.fromstring(unit.read("modelDescription.xml"))
        names = unit.namelist()
    kind = "ScalarVariable" if version == 2 else "Float64"
    found = {v.get("name"): {**v.attrib, **(v[0].attrib if version == 2 else {})} for v in root.iter(kind)}
    position = found["position"]
    assert (position["unit"], position["causality"]) == ("m", "input")
    low, high = (float(position[end]) for end in ("min", "max"))
    quantity = job.plant.measurements[0]
    assert (low, high) == (quantity.low, quantity.high)
    assert float(position["start"]) == pytest.approx(0.1)  # what the plant measures at rest
    assert float(found["authority"]["start"]) == 1.0
    assert "start" not in found["command_position"]  # calculated
    assert float(root.find("DefaultExperiment").get("stepSize")) == job.machine.sample_time
    places = [int(v["valueReference"]) for v in found.values() if v["name"] in job.machine.places]
    assert sorted(places) == list(range(len(job.machine.memory)))
    assert ("sources/buildDescription.xml" in names) == (version == 3)


# ----------------------------------------------------------------------------------------------------------- the C layer


@pytest.fixture(scope="module")
def library(job, tmp_path_factory):
    """Return how to load a version's library."""
    folder = tmp_path_factory.mktemp("fmi")

    def load(version):
        file = folder / f"fmi{version}.so"
        file.write_bytes(archive.compiled(archive.sources(job.machine, version)[0], GCC))
        return ctypes.CDLL(str(file))

    return load


@needs_gcc
def test_misuse_is_answered_with_an_error(job, library):
    fmi = library(2)
    token = archive.sources(job.machine, 2)[1].encode()
    fmi.fmi2Instantiate.restype = ctypes.c_void_p

    def make(kind=1, guid=token, name=b"c"):
        found = fmi.fmi2Instantiate(name, kind, guid, None, None, 0, 0)
        return None if found is None else ctypes.c_void_p(found)

    assert make(guid=b"{other}") is None
    assert make(kind=0) is None  # model exchange
    assert make(name=b"") is None
    ok, error = 0, 3
    value, place = (ctypes.c_double * 1)(0.5), (ctypes.c_uint * 1)(0)
    step, time = ctypes.c_double(job.machine.sample_time), ctypes.c_double(0.0)

    def fresh(*, running=True):
        instance = make()
        if running:
            assert fmi.fmi2EnterInitializationMode(instance) == fmi.fmi2ExitInitializationMode(instance) == ok
        return instance

    assert fmi.fmi2DoStep(fresh(running=False), time, step, 1) == error  # before initialisation
    assert fmi.fmi2DoStep(fresh(), ctypes.c_double(1.0), step, 1) == error  # not where the last one ended
    for wrong in (0.0, -0.02, 0.005, 0.025, float("nan"), float("inf")):
        assert fmi.fmi2DoStep(fresh(), time, ctypes.c_double(wrong), 1) == error
    for reference in (len(job.machine.memory) + 1, 2**32 - 1):
        unknown = (ctypes.c_uint * 1)(reference)
        assert fmi.fmi2GetReal(fresh(), unknown, 1, value) == error
    assert fmi.fmi2GetReal(fresh(), None, 1, value) == error
    output = (ctypes.c_uint * 1)(job.machine.places["command_position"])
    assert fmi.fmi2SetReal(fresh(), output, 1, value) == error
    assert fmi.fmi2GetInteger(fresh(), place, 1, value) == error
    assert fmi.fmi2GetInteger(fresh(), place, 0, value) == ok
    assert fmi.fmi2DoStep(None, time, step, 1) == error
    broken = fresh()
    assert fmi.fmi2SetReal(broken, output, 1, value) == error
    assert fmi.fmi2DoStep(broken, time, step, 1) == error  # until it is reset
    assert fmi.fmi2Reset(broken) == fmi.fmi2EnterInitializationMode(broken) == ok


@needs_gcc
def test_longer_step_is_several_samples(job, library):
    fmi = library(3)
    fmi.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p
    token = archive.sources(job.machine, 3)[1].encode()
    places = (ctypes.c_uint * 2)(job.machine.places["command_position"], len(job.machine.memory))
    seen = []
    for samples in ((1, 1, 1), (3,), (2, 1)):
        made = fmi.fmi3InstantiateCoSimulation(
            b"c", token, None, *[False] * 4, None, ctypes.c_size_t(0), None, None, None
        )
        c = ctypes.c_void_p(made)
        assert fmi.fmi3EnterInitializationMode(c, False, *[ctypes.c_double(5.0)] * 2, False, ctypes.c_double(0.0)) == 0
        fmi.fmi3SetFloat64(
            c, (ctypes.c_uint * 1)(0), ctypes.c_size_t(1), (ctypes.c_double * 1)(0.7), ctypes.c_size_t(1)
        )
        assert fmi.fmi3ExitInitializationMode(c) == 0
        time = 5.0
        for n in samples:
            assert (
                fmi.fmi3DoStep(
                    c, ctypes.c_double(time), ctypes.c_double(n * job.machine.sample_time), True, *[None] * 4
                )
                == 0
            )
            time += n * job.machine.sample_time
        room = (ctypes.c_double * 2)()
        assert fmi.fmi3GetFloat64(c, places, ctypes.c_size_t(2), room, ctypes.c_size_t(2)) == 0
        assert room[1] == pytest.approx(time)
        seen.append(room[0])
        assert fmi.fmi3GetFloat64(c, places, ctypes.c_size_t(2), room, ctypes.c_size_t(1)) == 3  # room for one only
        fmi.fmi3FreeInstance(c)
    assert seen[0] == seen[1] == seen[2] != 0.0


@needs_gcc
@pytest.mark.parametrize("version", [2, 3])
def test_every_function_has_the_signature_of_the_standards_headers(job, version, tmp_path):
    """In the place of our declarations those that FMPy carries: another signature is an error of the compiler."""
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed")
    headers = Path(fmpy.__file__).parent / "c-code"
    for name, text in archive.sources(job.machine, version)[0].items():
        (tmp_path / name).write_text(text)
    (tmp_path / f"fmi{version}.h").write_text(f'#include "fmi{version}Functions.h"\n')
    own = [name for name in archive.OWN[version] if name.endswith(".c")]
    libraries = [GCC, *archive.FLAGS, "-Wall", f"-I{headers}", "-shared", "-o", "made.so"]
    done = subprocess.run(
        [*libraries, *own, "instance.c", "model.c", f"{job.machine.name}.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    declared = (headers / f"fmi{version}Functions.h").read_text()
    names = set(re.findall(rf"\b(fmi{version}[A-Z]\w+)TYPE +fmi{version}", declared))
    made = subprocess.run(
        ["nm", "-D", "--defined-only", "made.so"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    exported = {line.split()[-1] for line in made.stdout.splitlines()}
    of_exchange = {
        "fmi2EnterEventMode",
        "fmi2NewDiscreteStates",
        "fmi2EnterContinuousTimeMode",
        "fmi2CompletedIntegratorStep",
    }
    of_exchange |= {"fmi2SetTime", "fmi2SetContinuousStates", "fmi2GetDerivatives", "fmi2GetEventIndicators"}
    of_exchange |= {"fmi2GetContinuousStates", "fmi2GetNominalsOfContinuousStates"}
    assert {name for name in exported if name.startswith("fmi")} == names - of_exchange


_DRIVER = r"""
#include <stdio.h>
#include <string.h>
#include "fmi2.c"
int main(void)
{
    fmi2Component c = fmi2Instantiate("c", fmi2CoSimulation, MODEL_TOKEN, 0, 0, 0, 0);
    fmi2FMUstate state = 0, second = 0;
    const fmi2ValueReference vr[1] = {MODEL_INPUTS + 1};
    double a[1], b[1], nan = 0.0 / (double)(c == 0);
    char bytes[100000];
    size_t size = 0, k;
    fmi2SetupExperiment(c, 0, 0, 0, 0, 0);
    fmi2EnterInitializationMode(c);
    fmi2ExitInitializationMode(c);
    for (k = 0; k < MODEL_INPUTS; k++) {
        const fmi2ValueReference one = (fmi2ValueReference)k;
        if (fmi2SetReal(c, &one, 1, &nan) != fmi2OK)
            return 1;
    }
    if (fmi2DoStep(c, 0, MODEL_SAMPLE_TIME, 1) != fmi2OK || fmi2GetFMUstate(c, &state) != fmi2OK)
        return 2;
    fmi2GetReal(c, vr, 1, a);
    if (fmi2SerializedFMUstateSize(c, state, &size) != fmi2OK || size > sizeof bytes)
        return 3;
    if (fmi2SerializeFMUstate(c, state, bytes, size) != fmi2OK)
        return 4;
    fmi2DoStep(c, MODEL_SAMPLE_TIME, 5 * MODEL_SAMPLE_TIME, 1);
    if (fmi2DeSerializeFMUstate(c, bytes, size, &second) != fmi2OK || fmi2SetFMUstate(c, second) != fmi2OK)
        return 5;
    fmi2GetReal(c, vr, 1, b);
    if (a[0] != b[0] || !(a[0] == a[0]))
        return 6;
    bytes[3] = 'x'; /* another controller's token */
    if (fmi2DeSerializeFMUstate(c, bytes, size, &second) == fmi2OK || fmi2DeSerializeFMUstate(c, bytes, 7, &second) == fmi2OK)
        return 7;
    fmi2FreeFMUstate(c, &state);
    fmi2FreeFMUstate(c, &second);
    fmi2FreeFMUstate(c, &second);
    if (state || second)
        return 8;
    fmi2FreeInstance(c);
    fmi2FreeInstance(0);
    return 0;
}
"""


@needs_gcc
def test_states_under_sanitizers(job, tmp_path):
    texts = archive.sources(job.machine, 2)[0]
    for name, text in {**texts, "driver.c": _DRIVER}.items():
        (tmp_path / name).write_text(text)
    sources = ["driver.c", "instance.c", "model.c", f"{job.machine.name}.c"]
    flags = [
        "-std=c99",
        "-Wall",
        "-fsanitize=address,undefined",
        "-fno-sanitize=float-divide-by-zero",
        "-fno-sanitize-recover=all",
        "-g",
    ]
    subprocess.run([GCC, *flags, *sources, "-o", "driver"], cwd=tmp_path, check=True)
    done = subprocess.run(["./driver"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ------------------------------------------------------------------------------------------------------------- the proof


@needs_gcc
@pytest.mark.parametrize("version", [2, 3])
def test_proof_by_fmpy(job, version, tmp_path):
    pytest.importorskip("fmpy", reason="FMPy is not installed")
    ((name, content),) = target.files(job, version).items()
    (tmp_path / name).write_bytes(content)
    proof = target.prove(job, tmp_path, version)
    assert (proof.status, proof.reason) == ("ok", "")
    assert proof.largest <= 1e-12
    assert proof.samples == sum(len(rows) for rows in job.sequences.values())


@needs_gcc
def test_proof_finds_a_wrong_controller(job, tmp_path, monkeypatch):
    """One gain of the sources changed by a millionth: the unit is sound, the proof is not."""
    pytest.importorskip("fmpy", reason="FMPy is not installed")
    right = source.texts

    def wrong(machine, precision="double"):
        found = right(machine, precision)
        name = f"{machine.name}.c"
        assert "m[0] = in->r_position" in found[name]
        return found | {name: found[name].replace("m[0] = in->r_position", "m[0] = 1.000001 * in->r_position")}

    monkeypatch.setattr(source, "texts", wrong)
    ((name, content),) = target.files(job, 2).items()
    (tmp_path / name).write_bytes(content)
    assert target.prove(job, tmp_path, 2).status == "failed"


@needs_gcc
@pytest.mark.parametrize("version", [2, 3])
def test_unit_as_a_plant_of_another_loop(job, version, tmp_path):
    """The adapter for plants reads both versions: stepped by it, the controller gives what its machine gives."""
    pytest.importorskip("fmpy", reason="FMPy is not installed")
    ((name, content),) = target.files(job, version).items()
    (tmp_path / name).write_bytes(content)
    names = [signal.name for signal in job.machine.inputs]
    channel = {"output": "command_position", "low": -1.0, "high": 1.0}
    plant = fmu_plant(tmp_path / name, FmuDeclaration(channels=[channel], inputs=names[:1], disturbances=names[1:]))
    assert plant.plant.step == job.machine.sample_time
    rows = job.sequences["random inputs"][:50]
    with closing(plant.open()) as session:
        session.start((), {})
        h = job.machine.sample_time
        given = [session.step(k * h, row[:1], row[1:], h) for k, row in enumerate(rows.tolist())]
    assert [q.name for q in plant.plant.states] == [signal.name for signal in job.machine.outputs]
    np.testing.assert_allclose(given, job.answers["random inputs"][:50], rtol=0.0, atol=1e-12 * job.spans.max())


@needs_gcc
def test_the_page_shows_a_program_that_runs(tmp_path, capsys):
    pytest.importorskip("fmpy", reason="FMPy is not installed")
    page = (Path(__file__).parents[4] / "docs/reference/exports/fmu.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    job = job_of(knowledge_base(law=PID(sample_time=0.01)), ({"reference": 1.0, "t_end": 0.1},))
    ((name, content),) = target.files(job, 2).items()
    (tmp_path / name).write_bytes(content)
    exec(compile(program, "fmu.md", "exec"), {"unit": str(tmp_path / name)})
    values = {"r_position": 1.0, "position": 0.1, "authority": 1.0}
    rows = [[values.get(signal.name, 0.0) for signal in job.machine.inputs]] * 3
    outputs = [signal.name for signal in job.machine.outputs]
    for line, row in zip(capsys.readouterr().out.splitlines(), job.machine.run(rows), strict=True):
        u, kp = (row[outputs.index(name)] for name in ("u_force", "gain_kp"))
        assert line == f"u = {u:.6f}, kp = {kp:.3f}, fault = 0"


def test_not_checked_without_fmpy(job, tmp_path, monkeypatch):
    monkeypatch.setattr(target, "find_spec", lambda _: None)
    proof = target.prove(job, tmp_path, 2)
    assert proof.status == "not checked"
    assert "FMPy is not installed" in proof.reason
