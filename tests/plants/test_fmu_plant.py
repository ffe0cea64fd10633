"""Functional mock-up units as plants: one made here from a C model, and one that another package carries."""

import importlib.util
import math
import shutil
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.adapters.fmu import FmuDeclaration, fmu_plant
from plants.core.elementary import exp
from sscq.slow import SlowLoop, crew

pytest.importorskip("fmpy", reason="FMPy is not installed")

_MODEL = r"""
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
/* A lag, moved exactly: T y' = k u + d - y. References: 0 u, 1 d, 2 y, 3 k, 4 T. It breaks beyond y = 3. */
#define E __attribute__((visibility("default")))
typedef struct { double v[5]; } lag;
E const char *fmi2GetTypesPlatform(void) { return "default"; }
E const char *fmi2GetVersion(void) { return "2.0"; }
E void *fmi2Instantiate(const char *n, int t, const char *g, const char *r, const void *f, int v, int l)
{
    lag *m = calloc(1, sizeof *m);
    m->v[2] = 0.25; m->v[3] = 1.0; m->v[4] = 0.5;
    return m;
}
E void fmi2FreeInstance(void *c) { free(c); }
E int fmi2SetupExperiment(void *c, int a, double b, double d, int e, double f) { return 0; }
E int fmi2EnterInitializationMode(void *c) { return 0; }
E int fmi2ExitInitializationMode(void *c) { return 0; }
E int fmi2SetReal(void *c, const unsigned r[], size_t n, const double v[])
{ for (size_t k = 0; k < n; k++) ((lag *)c)->v[r[k]] = v[k]; return 0; }
E int fmi2GetReal(void *c, const unsigned r[], size_t n, double v[])
{ for (size_t k = 0; k < n; k++) v[k] = ((lag *)c)->v[r[k]]; return 0; }
E int fmi2DoStep(void *c, double t, double h, int x)
{
    double *v = ((lag *)c)->v;
    v[2] += (1.0 - exp(-h / v[4])) * (v[3] * v[0] + v[1] - v[2]);
    return v[2] > 3.0 ? 3 : 0;
}
#define NONE(name) E int name(void) { return 3; }
"""
_UNUSED = """SetDebugLogging Terminate Reset GetInteger GetBoolean GetString SetInteger SetBoolean SetString GetFMUstate
SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate GetDirectionalDerivative
SetRealInputDerivatives GetRealOutputDerivatives CancelStep GetStatus GetRealStatus GetIntegerStatus GetBooleanStatus
GetStringStatus""".split()  # noqa: SIM905
_MODEL += "\n".join(f"NONE(fmi2{name})" for name in _UNUSED)
_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="heated lag" guid="{{1}}" variableNamingConvention="flat">
  <{kind} modelIdentifier="lag"/>
  <UnitDefinitions><Unit name="V"/></UnitDefinitions>
  <DefaultExperiment stepSize="0.05"/>
  <ModelVariables>
    <ScalarVariable name="valve.u" valueReference="0" causality="input"><Real unit="V" min="-8" max="8" start="0"/></ScalarVariable>
    <ScalarVariable name="load" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="2" causality="output" initial="exact"><Real start="0.25"/></ScalarVariable>
    <ScalarVariable name="gain.k" valueReference="3" causality="parameter" variability="tunable"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="T" valueReference="4" causality="parameter" variability="tunable"><Real start="0.5"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="3"/></Outputs></ModelStructure>
</fmiModelDescription>
"""
LAG = FmuDeclaration(name="lag", disturbances=["load"], parameters={"gain.k": 1.0, "T": 0.5})


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("lag")
    (folder / "lag.c").write_text(_MODEL)
    subprocess.run([gcc, "-O1", "-fPIC", "-shared", "lag.c", "-o", "lag.so", "-lm"], cwd=folder, check=True)

    def make(kind="CoSimulation"):
        with zipfile.ZipFile(folder / f"{kind}.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", _DESCRIPTION.format(kind=kind))
            archive.write(folder / "lag.so", "binaries/linux64/lag.so")
        return folder / f"{kind}.fmu"

    return make


def twin():
    """The same lag in equations of the project's own."""
    q = plants.Quantity
    return plants.Plant(
        "twin", (q("y", "1", 0.25),), (q("gain_k", "1", 1.0), q("T", "s", 0.5)), (q("valve_u", "V"),), (q("load", "1"),),
        channels=(plants.Channel("y", low=-8.0, high=8.0, collocated=False),),
        derivative=lambda t, x, u, w, p: ((p[0] * u[0] + w[0] - x[0]) / p[1],),
        advance=lambda t, x, u, w, p, h: (x[0] + (1.0 - exp(-h / p[1])) * (p[0] * u[0] + w[0] - x[0]),),
    )  # fmt: skip


def test_declaration_is_filled_from_the_unit(unit):
    plant = fmu_plant(unit(), LAG).plant
    assert [q.name for q in plant.inputs] == ["valve_u"]
    assert (plant.inputs[0].unit, plant.step) == ("V", 0.05)
    assert [(q.name, q.nominal) for q in plant.states] == [("y", 0.25)]
    assert [(q.name, q.nominal) for q in plant.parameters] == [("gain_k", 1.0), ("T", 0.5)]
    (channel,) = plant.channels
    assert (channel.output, channel.low, channel.high) == ("y", -8.0, 8.0)


def test_loop_around_the_unit_is_that_around_its_equations(unit):
    situations = [
        sscq.Situation("step", reference=1.0, excitation=0.2, t_end=2.0, noise=0.01, delay=0.1),
        sscq.Situation("other", reference=-1.0, t_end=1.5, parameters={"T": 1.0, "gain_k": 2.0}, initial={"y": 0.5}),
        sscq.Situation("broken", reference=20.0, t_end=2.0),  # the unit gives up beyond 3, and so does the bound below
    ]
    gains = np.array([[2.0, 1.0, 0.1], [5.0, 4.0, 0.0]])
    slow = fmu_plant(unit(), LAG)
    loop = SlowLoop(slow, PID(), situations, 0.05)
    with closing(crew(slow, 0)) as members:
        found = loop.evaluate(gains, members)
    bounded = plants.Plant(**{**vars(twin()), "states": (plants.Quantity("y", "1", 0.25, high=3.0),)})
    expected = sscq.evaluate(bounded, PID(), gains, situations, 0.05)
    assert expected.failed[2].all()
    for name, values in expected.values.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(found.diverged_at, expected.diverged_at)


def test_substeps(unit):
    """The exact lag does not mind being stepped in parts."""
    settings = {}
    for substeps in (1, 4):
        slow = fmu_plant(unit(), FmuDeclaration(disturbances=["load"], substeps=substeps))
        with closing(slow.open()) as session:
            session.start((), {})
            settings[substeps] = [session.step(0.1 * k, [1.0], [0.0], 0.1)[0] for k in range(5)]
    np.testing.assert_allclose(settings[4], settings[1], rtol=1e-12)
    assert settings[1][-1] == pytest.approx(1.0 + (0.25 - 1.0) * math.exp(-1.0))


def test_refusals(unit):
    with pytest.raises(ValueError, match="co-simulation"):
        fmu_plant(unit("ModelExchange"))
    with pytest.raises(ValueError, match="did you mean 'gain.k'"):
        fmu_plant(unit(), FmuDeclaration(parameters={"gaink": 1.0}))
    with pytest.raises(ValueError, match="is no parameter"):
        fmu_plant(unit(), FmuDeclaration(disturbances=["load"], parameters={"y": 1.0}))
    with pytest.raises(ValueError, match="declare channels"):
        fmu_plant(unit())  # two inputs


def test_a_unit_that_the_project_did_not_write():
    """A mass on a spring from OpenModelica, in the package gemseo-fmu: what it settles at follows from its numbers."""
    found = importlib.util.find_spec("gemseo_fmu")
    if found is None or found.origin is None:
        pytest.skip("gemseo-fmu is not installed")
    file = Path(found.origin).parent / "problems" / "fmu_files" / "linux" / "Mass_Damper.fmu"
    declared = FmuDeclaration(
        channels=[{"output": "y", "low": -50.0, "high": 50.0}], shown=["mass.v"], substeps=10,
        parameters={"spring.c": 100.0, "damper.d": 10.0, "mass.m": 1.0},
    )  # fmt: skip
    with closing(fmu_plant(file, declared).open()) as session:
        resting = session.start((100.0, 10.0, 1.0), {})
        for k in range(500):
            rest = session.step(0.01 * k, [0.0], [], 0.01)
        session.start((100.0, 10.0, 1.0), {})
        for k in range(500):
            pushed = session.step(0.01 * k, [20.0], [], 0.01)
    assert len(resting) == 2
    assert abs(pushed[0] - rest[0]) == pytest.approx(20.0 / 100.0, rel=1e-3)  # force over stiffness
    assert abs(pushed[1]) < 1e-6
