"""A functional mock-up unit from a few lines of C, for the pages on units as plants: a lag, moved exactly.

Version 2.0 for co-simulation, without the standard's headers: what is not used answers with an error.
"""

import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

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
    <ScalarVariable name="valve.u" valueReference="0" causality="input">
      <Real unit="V" min="-8" max="8" start="0"/>
    </ScalarVariable>
    <ScalarVariable name="load" valueReference="1" causality="input">
      <Real start="0"/>
    </ScalarVariable>
    <ScalarVariable name="y" valueReference="2" causality="output" initial="exact">
      <Real start="0.25"/>
    </ScalarVariable>
    <ScalarVariable name="gain.k" valueReference="3" causality="parameter" variability="tunable">
      <Real start="1"/>
    </ScalarVariable>
    <ScalarVariable name="T" valueReference="4" causality="parameter" variability="tunable">
      <Real start="0.5"/>
    </ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="3"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def make(file, kind="CoSimulation"):
    """Write the unit; gcc and Linux on x86-64 are needed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "lag.c").write_text(_MODEL)
        command = [shutil.which("gcc"), "-O1", "-fPIC", "-shared", "lag.c", "-o", "lag.so", "-lm"]
        subprocess.run(command, cwd=place, check=True)  # noqa: S603  (gcc on the text above)
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("modelDescription.xml", _DESCRIPTION.format(kind=kind))
            archive.write(place / "lag.so", "binaries/linux64/lag.so")
    return Path(file)
