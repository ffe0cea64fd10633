"""Proofs of exports: what was run, by whom, and the largest error of every signal.

Exports in other languages are programs that read rows of doubles and answer with rows of doubles.
"""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.export.job import EDGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs.export.job import Job

    Array = NDArray[np.float64]

OK, FAILED, UNCHECKED = "ok", "failed", "not checked"
FLAGS = ("fault", "tripped")
_SINGLE = 1e-7  # relative: limits that are rounded to single precision


@dataclass(frozen=True)
class Proof:
    """One export held against the machine.

    Attributes
    ----------
    target : str
    checker : str
        The independent program that ran it, with its version.
    status : {"ok", "failed", "not checked"}
    reason : str
        Why it failed or was not checked.
    bound : float
        Largest error allowed, as a share of the signal's range.
    samples : int
        Compared.
    errors : mapping of signal to float
        Largest absolute error over all sequences, as a share of the signal's range.
    numbers : mapping
        Whatever else was measured: sizes in bytes.
    seconds : float
        Time of one sample on this machine, 0 where nobody measured it; not among the plain data, which repeats.
    """

    target: str
    checker: str = ""
    status: str = UNCHECKED
    reason: str = ""
    bound: float = 0.0
    samples: int = 0
    errors: Mapping[str, float] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def largest(self) -> float:
        """Largest error of all signals."""
        return max(self.errors.values(), default=float("nan"))

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "seconds"}


def unchecked(target: str, reason: str) -> Proof:
    """Return that nobody ran an export, and why."""
    return Proof(target, reason=reason)


def compared(
    job: Job, target: str, checker: str, bound: float, found: Mapping[str, Array], *, rough: bool = False,
    seconds: float = 0.0, **numbers: Any,
) -> Proof:  # fmt: skip
    """Return the proof of outputs `found` [n, n_outputs], by sequence.

    An output that is not finite where the machine's is, or the other way round, is an infinite error. With `rough`
    (single precision) outputs of the edge inputs need only be inside their limits, and flags the same: integrals that
    have been at 1e6 keep seven digits of that.
    """
    errors = np.zeros(len(job.machine.outputs))
    for name, expected in job.answers.items():
        ours = found.get(name)
        if rough and name == EDGE and ours is not None and ours.shape == expected.shape:
            errors = np.maximum(errors, np.where(_inside(job, ours) & _same_flags(job, ours, expected), 0.0, np.inf))
            continue
        if ours is None or ours.shape != expected.shape:
            came = "nothing" if ours is None else f"shape {ours.shape}"
            reason = f"{name}: expected outputs {expected.shape}, got {came}"
            return Proof(target, checker, "failed", reason, bound, numbers=numbers)
        both = np.isfinite(ours) & np.isfinite(expected)
        difference = np.where(both, np.abs(np.where(both, ours - expected, 0.0)), np.inf)
        difference[~np.isfinite(ours) & ~np.isfinite(expected)] = 0.0
        errors = np.maximum(errors, (difference / job.spans).max(axis=0, initial=0.0))
    table = {signal.name: float(error) for signal, error in zip(job.machine.outputs, errors, strict=True)}
    good = max(table.values(), default=0.0) <= bound
    worst = max(table, key=lambda name: table[name])
    reason = "" if good else f"{worst} differs by {table[worst]:.3g} of its range; allowed are {bound:g}"
    samples = sum(map(len, job.answers.values()))
    return Proof(target, checker, OK if good else FAILED, reason, bound, samples, table, numbers, seconds)


def _inside(job: Job, values: Array) -> NDArray[np.bool_]:
    """Whether each output [n, n_outputs] is finite and inside its limits, but for rounding to single precision."""
    low, high = (np.array([getattr(s, end) for s in job.machine.outputs]) for end in ("low", "high"))
    slack = _SINGLE * np.where(np.isfinite(high - low), np.maximum(np.abs(low), np.abs(high)), 0.0)
    good = np.isfinite(values) & (values >= low - slack) & (values <= high + slack)
    return np.asarray(good.all(axis=0))


def _same_flags(job: Job, ours: Array, expected: Array) -> NDArray[np.bool_]:
    """Whether outputs [n, n_outputs] that are 0 or 1 are those expected; true for all others."""
    flags = np.array([signal.name in FLAGS for signal in job.machine.outputs])
    return np.asarray(~flags | (ours == expected).all(axis=0))


def digest(path: Path) -> str:
    """Return a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


SECONDS = 120  # that a program may take


def answers(command: Sequence[str], job: Job, seconds: float = SECONDS) -> dict[str, Array]:
    """Run a program once for each sequence and return its outputs [n, n_outputs] by sequence.

    The program reads little-endian doubles from standard input, a row of inputs after the other, and writes the outputs
    of each row.

    Raises
    ------
    subprocess.SubprocessError
        If it fails or does not end within `seconds`.
    """
    width = len(job.machine.outputs)
    return {name: answer(command, rows, width, seconds) for name, rows in job.sequences.items()}


def answer(command: Sequence[str], rows: Array, width: int, seconds: float = SECONDS) -> Array:
    """Return the outputs [n, width] of a program for rows of inputs; it must end within `seconds`."""
    sent = np.ascontiguousarray(rows, dtype="<f8").tobytes()
    done = subprocess.run(list(command), input=sent, capture_output=True, timeout=seconds, check=True)  # noqa: S603
    return np.frombuffer(done.stdout, dtype="<f8").reshape(-1, width)


def output_of(command: Sequence[str], seconds: float = SECONDS) -> str:
    """Return what a program prints; it must end within `seconds`."""
    done = subprocess.run(list(command), capture_output=True, text=True, timeout=seconds, check=True)  # noqa: S603
    return done.stdout.strip()


def failure_text(error: subprocess.SubprocessError) -> str:
    """Return what a program said when it failed."""
    output = getattr(error, "stderr", None) or getattr(error, "stdout", None) or str(error)
    text = output.decode(errors="replace") if isinstance(output, bytes) else str(output)
    return text.strip()[:2000]


def version(program: str) -> str:
    """Return the first line of what a program says of its version."""
    return output_of([program, "--version"]).splitlines()[0]
