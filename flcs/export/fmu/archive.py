"""The controller as a functional mock-up unit: sources, a binary where there is a compiler, a model description.

The interface's functions are files of C beside this one; what is special to a machine is written here. The archive is
the same byte for byte for the same controller and compiler.
"""

from __future__ import annotations

import io
import platform
import shutil
import subprocess
import tempfile
import zipfile
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from flcs.export.c import source
from flcs.export.c.source import Straight
from flcs.export.fmu.description import build_description, description, page, start_of, token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flcs.export.machine import Machine

SHARED = ("exported.h", "instance.h", "instance.c")
OWN = {2: ("fmi2.h", "fmi2.c"), 3: ("fmi3.h", "fmi3.c", "fmi3_refused.c")}
FLAGS = ("-std=c99", "-O2", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-parameter")
_PLATFORMS = {("Linux", "x86_64"): {2: ("linux64", ".so"), 3: ("x86_64-linux", ".so")}}
_DATE = (1980, 1, 1, 0, 0, 0)  # the archive's files carry no time
_SECONDS = 120
_LICENCE = "The C sources and the model description are under the Apache License, Version 2.0:\n"
_LICENCE += "https://www.apache.org/licenses/LICENSE-2.0\n"


def sources(machine: Machine, version: int) -> tuple[dict[str, str], str]:
    """Return the C sources by name, and the token that identifies them."""
    own = source.texts(machine)
    fixed = {name: _resource(name) for name in (*SHARED, *OWN[version])}
    identity = token(version, (*own.values(), *fixed.values(), _model_source(machine)))
    made = {"model.h": _model_header(machine, identity), "model.c": _model_source(machine)}
    return {**own, **made, **fixed}, identity


def archive(machine: Machine, version: int) -> bytes:
    """Return the functional mock-up unit.

    Raises
    ------
    ValueError
        If there is a compiler and it refuses the sources.
    """
    texts, identity = sources(machine, version)
    names = [name for name in texts if name.endswith(".c")]
    content: dict[str, str | bytes] = {"modelDescription.xml": description(machine, version, identity, names)}
    content |= {f"sources/{name}": text for name, text in texts.items()}
    if version == 3:
        content["sources/buildDescription.xml"] = build_description(machine, names)
    content["documentation/index.html"] = page(machine)
    content["documentation/licenses/license.txt"] = _LICENCE
    place, gcc = binary_place(machine.name, version), shutil.which("gcc")
    if place is not None and gcc is not None:
        content[place] = compiled(texts, gcc)
    return _zipped(content)


def binary_place(name: str, version: int) -> str | None:
    """Return the path of this machine's binary inside the archive; None: the standard has no name for the platform."""
    known = _PLATFORMS.get((platform.system(), platform.machine()))
    return None if known is None else f"binaries/{known[version][0]}/{name}{known[version][1]}"


def compiled(texts: Mapping[str, str], gcc: str) -> bytes:
    """Return the shared library of some sources, warnings as errors."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        made = [name for name in texts if name.endswith(".c")]
        options = [*FLAGS, *STRICT, "-shared", "-s", "-Wl,--build-id=none", *made, "-o", "made.so"]
        command = [gcc, *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
        if done.returncode != 0:
            raise ValueError(f"gcc refuses the unit's sources: {done.stderr.strip()[:2000]}")
        return (Path(folder) / "made.so").read_bytes()


def _resource(name: str) -> str:
    return (resources("flcs.export.fmu") / "fmi" / name).read_text(encoding="utf-8")


def _zipped(content: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in sorted(content.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            made.writestr(entry, data)
    return buffer.getvalue()


def _model_header(machine: Machine, identity: str) -> str:
    name = machine.name
    return f"""/* Which controller this is. Licence: Apache-2.0. */
#ifndef MODEL_H
#define MODEL_H

#include "{name}.h"

typedef {name}_state model_state;
typedef {name}_inputs model_inputs;
typedef {name}_outputs model_outputs;

#define MODEL_TOKEN "{identity}"
#define MODEL_NUMBERS {len(machine.memory)}u
#define MODEL_INPUTS {len(machine.inputs)}u
#define MODEL_SAMPLE_TIME {machine.sample_time!r}
#define model_reset {name}_reset
#define model_step {name}_step

void model_start(model_inputs *in);
double *model_input(model_inputs *in, unsigned place);

#endif
"""


def _model_source(machine: Machine) -> str:
    starts = [f"    in->{s.name} = {Straight.literal(start_of(machine, s))};" for s in machine.inputs]
    cases = [f"    case {k}u:\n        return &in->{s.name};" for k, s in enumerate(machine.inputs)]
    lines = [
        "/* Inputs by number, and their values where nobody sets them. Licence: Apache-2.0. */", '#include "model.h"',
        "", "void model_start(model_inputs *in)", "{", *starts, "}", "",
        "double *model_input(model_inputs *in, unsigned place)", "{", "    switch (place) {", *cases,
        "    default:", "        return 0;", "    }", "}", "",
    ]  # fmt: skip
    return "\n".join(lines)
