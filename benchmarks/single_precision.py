"""Would single precision pay? The C text of the same loops in float: how much faster, and what is lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import c_peer, case
from benchmarks.lane_sizes import built, candidates
from benchmarks.report import Section
from benchmarks.timing import alternate, ratio

if TYPE_CHECKING:
    from benchmarks.size import Size

_PAYS = 1.5


def single_precision(size: Size) -> Section:
    """Time the loops in double and in float, both as C from the same tape."""
    section = Section("single_precision", "Single precision: the same C text in float")
    if not c_peer.available():
        section.notes.append("Skipped: no gcc.")
        return section
    with tempfile.TemporaryDirectory() as folder:
        for n_x in case.SIZES:
            _add(section, n_x, size, Path(folder))
    section.notes.append(
        "What a float mode could gain. The kernels have none: elementary functions and noise are made for doubles."
    )
    return section


def _add(section: Section, n_x: int, size: Size, folder: Path) -> None:
    loop, theta = case.loop_of(case.SIZES[n_x], size.steps), candidates(n_x, size)
    peers = {f"{real}, {peer.name}": peer for real in ("double", "float") for peer in built(loop, folder, real)}
    if not all(any(name.startswith(real) for name in peers) for real in ("double", "float")):
        section.notes.append(f"{n_x} states skipped: the compiler builds neither width of vectors.")
        return
    calls = {name: lambda p=peer: p.run(theta, size.steps) for name, peer in peers.items()}
    times = alternate(calls, max(2, size.rounds // 4))
    exact, rough = (
        min((n for n in times if n.startswith(real)), key=lambda n: times[n].best) for real in ("double", "float")
    )
    for name in (exact, rough):
        section.time(f"{n_x} states: one step, {name}", times[name].per(len(theta) * size.steps), "ns", 1e9)
    factor = ratio(times[exact], times[rough])
    section.ratio(f"{n_x} states: double / float", factor, "would pay" if factor[0] >= _PAYS else "would not pay")
    wanted, found = (peers[name].run(theta, size.steps)[:, 1:] for name in (exact, rough))
    lost = float(np.max(np.abs(found - wanted) / np.abs(wanted)))
    section.figure(f"{n_x} states: largest relative error of a measure", lost, "", f"{size.steps:,} steps")
