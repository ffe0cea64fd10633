"""The targets: what `sscq export` can write, and who checks it. One file a target; this is their list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.export import c_target, javascript_target, living_target, python_target, st_target

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


_JAVASCRIPT = Target("js", "JavaScript, for pages and Node", javascript_target.files, javascript_target.prove)
_PYTHON = Target("python", "Python, one file without packages", python_target.files, python_target.prove)


def _st(name: str) -> Target:
    real = st_target.TARGETS[name]
    title = f"IEC 61131-3 Structured Text, {real}"
    return Target(name, title, partial(st_target.files, real=real), partial(st_target.prove, real=real))


_LIVING = Target("html", "A living page: the loop in a browser", living_target.files, living_target.prove)
_ALL = (_c("c"), _c("c_float"), _st("st"), _st("st_real"), _JAVASCRIPT, _PYTHON, _LIVING)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
