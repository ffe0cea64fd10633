"""The targets: what `sscq export` can write, and who checks it. One file a target; this is their list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.export import c_target, fcl_target, fis_target, m_target, onnx_target, skfuzzy_target, tables_target

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


_FIS = Target("fis", "MATLAB fuzzy inference files of the rules", fis_target.files, fis_target.prove)
_FCL = Target("fcl", "IEC 61131-7 Fuzzy Control Language of the rules", fcl_target.files, fcl_target.prove)
_ONNX = Target("onnx", "ONNX graph of the scheduler", onnx_target.files, onnx_target.prove)
_TABLES = Target("tables", "look-up tables as CSV, JSON, NPZ", tables_target.files, tables_target.prove)
_SKFUZZY = Target("skfuzzy", "control systems of scikit-fuzzy", skfuzzy_target.files, skfuzzy_target.prove)
_MATLAB = Target("matlab", "MATLAB functions: controller, scheduler, tables", m_target.files, m_target.prove)

TARGETS: dict[str, Target] = {
    target.name: target for target in (_c("c"), _c("c_float"), _MATLAB, _FIS, _FCL, _ONNX, _TABLES, _SKFUZZY)
}
