"""The targets: what `sscq export` can write, and who checks it. One file a target; this is their list.

The living page, which needs the report's style, joins them where the reports are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.export import (
    c_target,
    fcl_target,
    fis_target,
    fmu_target,
    javascript_target,
    m_target,
    onnx_target,
    python_target,
    skfuzzy_target,
    st_target,
    tables_target,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from experiments.export.job import Job
    from experiments.export.proof import Proof


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
    precision = c_target.TARGETS[name]
    title = {"double": "C99, double precision", "float": "C99, single precision"}[precision]
    files, prove = partial(c_target.files, precision=precision), partial(c_target.prove, precision=precision)
    return Target(name, title, files, prove)


def _st(name: str) -> Target:
    real = st_target.TARGETS[name]
    title = f"IEC 61131-3 Structured Text, {real}"
    return Target(name, title, partial(st_target.files, real=real), partial(st_target.prove, real=real))


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
    Target("js", "JavaScript, for pages and Node", javascript_target.files, javascript_target.prove),
    Target("python", "Python, one file without packages", python_target.files, python_target.prove),
    Target("matlab", "MATLAB functions: controller, scheduler, tables", m_target.files, m_target.prove),
    Target("fis", "MATLAB fuzzy inference files of the rules", fis_target.files, fis_target.prove),
    Target("fcl", "IEC 61131-7 Fuzzy Control Language of the rules", fcl_target.files, fcl_target.prove),
    Target("skfuzzy", "control systems of scikit-fuzzy", skfuzzy_target.files, skfuzzy_target.prove),
    Target("onnx", "ONNX graph of the scheduler", onnx_target.files, onnx_target.prove),
    Target("tables", "look-up tables as CSV, JSON, NPZ", tables_target.files, tables_target.prove),
)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
