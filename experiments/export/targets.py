"""The targets: what `sscq export` can write, and who checks it. One file a target; this is their list."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.export import c_target, fmu_target

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


def _fmu(version: int) -> Target:
    return Target(
        f"fmu{version}", f"functional mock-up unit, FMI {version}.0 co-simulation",
        partial(fmu_target.files, version=version), partial(fmu_target.prove, version=version),
    )  # fmt: skip


TARGETS: dict[str, Target] = {target.name: target for target in (_c("c"), _c("c_float"), _fmu(2), _fmu(3))}
