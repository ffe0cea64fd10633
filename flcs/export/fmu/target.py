"""The export as a functional mock-up unit, FMI 2.0 and 3.0, and its proof by FMPy."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from flcs.export.fmu import archive
from flcs.export.proof import Proof, compared, unchecked

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs.export.job import Job
    from flcs.export.machine import Machine

    Array = NDArray[np.float64]

BOUND = 1e-12
"""Share of a signal's range: the C inside is that of the double-precision export."""
_MOST = 2000  # samples of the recording that is simulated as a whole


def files(job: Job, version: int) -> dict[str, bytes]:
    """Return the unit."""
    return {f"{job.machine.name}.fmu": archive.archive(job.machine, version)}


def prove(job: Job, folder: Path, version: int) -> Proof:
    """Validate the unit, step it through all sequences, restore a stored state on the way, simulate it as a whole."""
    target = f"fmu{version}"
    if find_spec("fmpy") is None:
        return unchecked(target, "FMPy is not installed (pip install sscq[exports])")
    if archive.binary_place(job.machine.name, version) is None or shutil.which("gcc") is None:
        return unchecked(target, "sources only: no gcc, or no name in the standard for this platform's binaries")

    file, checker = folder / f"{job.machine.name}.fmu", f"FMPy {installed_version('fmpy')}"
    wrong = problems(file)
    if wrong:
        return Proof(target, checker, "failed", "; ".join(wrong)[:2000], BOUND)
    try:
        with tempfile.TemporaryDirectory() as place, Session(file, job.machine, place) as session:
            found = {name: session.run(rows) for name, rows in job.sequences.items()}
        whole = simulated_error(file, job)
    except Exception as error:  # noqa: BLE001  (whatever the checker raises is its verdict)
        return Proof(target, checker, "failed", str(error)[:2000], BOUND)
    if not whole <= BOUND:
        return Proof(target, checker, "failed", f"simulate_fmu differs by {whole:.3g} of the range", BOUND)
    return compared(job, target, checker, BOUND, found, fmu_bytes=file.stat().st_size)


def problems(file: Path) -> list[str]:
    """Return what FMPy's validation says about a unit."""
    from fmpy.validation import validate_fmu

    return list(validate_fmu(str(file)))


class Session:
    """One instance of a unit, stepped sample by sample.

    Parameters
    ----------
    file : Path
    machine : Machine
        Whose unit it is.
    folder : str
        Where it is unpacked.
    """

    def __init__(self, file: Path, machine: Machine, folder: str) -> None:
        import fmpy

        self.step = machine.sample_time
        described = fmpy.read_model_description(str(file))
        self.version = int(described.fmiVersion[0])
        places = {v.name: v.valueReference for v in described.modelVariables}
        self._given = (ctypes.c_uint * len(machine.inputs))(*(places[s.name] for s in machine.inputs))
        self._asked = (ctypes.c_uint * len(machine.outputs))(*(places[s.name] for s in machine.outputs))
        unpacked = fmpy.extract(str(file), folder)
        self.unit: Any = fmpy.instantiate_fmu(unpacked, described, "CoSimulation", require_functions=True)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free the instance."""
        self.unit.freeInstance()

    def start(self) -> None:
        """Begin anew at time 0."""
        self.unit.reset()
        if self.version == 2:
            self.unit.setupExperiment(startTime=0.0)
        self.unit.enterInitializationMode()
        self.unit.exitInitializationMode()

    def run(self, rows: Array) -> Array:
        """Return the outputs [n, n_outputs] for inputs [n, n_inputs], from a fresh start.

        In the middle the state is stored as bytes; a few samples later it is read back, and these samples repeat.

        Raises
        ------
        ValueError
            If they do not repeat bit for bit.
        """
        self.start()
        taken = np.empty((len(rows), len(self._asked)))
        middle, after = len(rows) // 2, min(len(rows), len(rows) // 2 + 20)
        taken[:middle] = self._stretch(rows, 0, middle)
        stored = self._stored()
        first = self._stretch(rows, middle, after)
        self._restore(stored)
        taken[middle:after] = self._stretch(rows, middle, after)
        if first.tobytes() != taken[middle:after].tobytes():
            raise ValueError("the samples after a restored state are not those after the stored one")
        taken[after:] = self._stretch(rows, after, len(rows))
        self.unit.terminate()
        return taken

    def _stretch(self, rows: Array, first: int, last: int) -> Array:
        got, n, m = np.empty((last - first, len(self._asked))), len(self._given), len(self._asked)
        sent, room = (ctypes.c_double * n)(), (ctypes.c_double * m)()
        unit = self.unit
        for k in range(first, last):
            sent[:] = rows[k].tolist()
            if self.version == 2:
                unit.fmi2SetReal(unit.component, self._given, n, sent)
                unit.fmi2DoStep(unit.component, k * self.step, self.step, 1)
                unit.fmi2GetReal(unit.component, self._asked, m, room)
            else:
                unit.fmi3SetFloat64(unit.component, self._given, n, sent, n)
                unit.doStep(k * self.step, self.step)
                unit.fmi3GetFloat64(unit.component, self._asked, m, room, m)
            got[k - first] = room[:]
        return got

    def _stored(self) -> bytes:
        state = self.unit.getFMUState()
        stored = (self.unit.serializeFMUstate if self.version == 2 else self.unit.serializeFMUState)(state)
        self.unit.freeFMUState(state)
        return bytes(stored)

    def _restore(self, stored: bytes) -> None:
        state = (self.unit.deSerializeFMUstate if self.version == 2 else self.unit.deserializeFMUState)(stored)
        self.unit.setFMUState(state)
        self.unit.freeFMUState(state)


def simulated_error(file: Path, job: Job) -> float:
    """Return the largest error of FMPy's own simulation of the first recording, as a share of the signal's range."""
    from fmpy import simulate_fmu

    machine, name = job.machine, next(iter(job.sequences))
    rows, expected = job.sequences[name][:_MOST], job.answers[name][:_MOST]
    times = machine.sample_time * np.arange(len(rows))
    names = [signal.name for signal in machine.inputs]
    given = np.array([(t, *row) for t, row in zip(times, rows.tolist(), strict=True)],
                     dtype=[("time", "f8"), *((n, "f8") for n in names)])  # fmt: skip
    result = simulate_fmu(
        str(file), stop_time=machine.sample_time * len(rows), output_interval=machine.sample_time,
        input=given, output=[signal.name for signal in machine.outputs], fmi_type="CoSimulation",
    )  # fmt: skip
    ours = np.array([list(row)[1:] for row in result[1:]])
    if ours.shape != expected.shape:
        return float("inf")
    return float(np.max(np.abs(ours - expected) / job.spans))
