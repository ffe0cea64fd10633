"""The targets: what `sscq export` can write, and who checks it. One file a target; this is their list.

The living page, which needs the report's style, joins them where the reports are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from flcs.export import onnx, tables
from flcs.export.c import target
from flcs.export.fmu import target as fmu_target
from flcs.export.matlab import target as matlab_target
from flcs.export.rules import fcl, fis, skfuzzy
from flcs.export.scripts import javascript, python
from flcs.export.structured_text import target as structured_text_target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from flcs.export.job import Job
    from flcs.export.proof import Proof


@dataclass(frozen=True)
class Target:
    """One kind of export.

    Attributes
    ----------
    name : str
        As in ``to=[...]``, and the name of its folder.
    title : str
        What it is, in a few words.
    files : callable
        A job to the export's files: relative path to content.
    prove : callable
        A job and the folder of these files to the proof; it says "not checked" where its checker is missing.
    """

    name: str
    title: str
    files: Callable[[Job], Mapping[str, str | bytes]]
    prove: Callable[[Job, Path], Proof]


def _c(name: str) -> Target:
    precision = target.TARGETS[name]
    title = {"double": "C99, double precision", "float": "C99, single precision"}[precision]
    files, prove = partial(target.files, precision=precision), partial(target.prove, precision=precision)
    return Target(name, title, files, prove)


def _st(name: str) -> Target:
    real = structured_text_target.TARGETS[name]
    title = f"IEC 61131-3 Structured Text, {real}"
    return Target(
        name, title, partial(structured_text_target.files, real=real), partial(structured_text_target.prove, real=real)
    )


def _fmu(version: int) -> Target:
    return Target(
        f"fmu{version}", f"functional mock-up unit, FMI {version}.0 co-simulation",
        partial(fmu_target.files, version=version), partial(fmu_target.prove, version=version),
    )  # fmt: skip


_ALL = (
    _c("c"),
    _c("c_float"),
    _st("st"),
    _st("st_real"),
    _fmu(2),
    _fmu(3),
    Target("js", "JavaScript, for pages and Node", javascript.files, javascript.prove),
    Target("python", "Python, one file without packages", python.files, python.prove),
    Target("matlab", "MATLAB functions: controller, scheduler, tables", matlab_target.files, matlab_target.prove),
    Target("fis", "MATLAB fuzzy inference files of the rules", fis.files, fis.prove),
    Target("fcl", "IEC 61131-7 Fuzzy Control Language of the rules", fcl.files, fcl.prove),
    Target("skfuzzy", "control systems of scikit-fuzzy", skfuzzy.files, skfuzzy.prove),
    Target("onnx", "ONNX graph of the scheduler", onnx.files, onnx.prove),
    Target("tables", "look-up tables as CSV, JSON, NPZ", tables.files, tables.prove),
)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
