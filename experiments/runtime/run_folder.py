"""The folder of a run: what was asked, what came out, and what is needed to go on after the process was killed.

===================  ==================================================================================
config.json          command, settings that decide the result, overrides, hashes of the user's files
versions.json        programs and libraries that made the result
stages/NAME/         each finished stage; `checkpoints/` while one is unfinished
inputs/              copies of the user's own files
times.json           all times, nowhere else: every other file depends on configuration and seed alone
===================  ==================================================================================

Results (metrics, knowledge base, tables, report) are added by the commands through `path / name` and
`experiments.runtime.formats`. Every file is whole at any moment; killed at any moment, a run can be resumed. One
process at a time works in a folder: the system gives its lock back when the holder dies, however it dies.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from experiments.runtime import formats, user_settings
from experiments.runtime.errors import UserError
from experiments.runtime.run_record import SCHEMA, VERSION, InputRecord, RunRecord
from experiments.runtime.stages import Stages, digest_of, digest_of_file
from experiments.runtime.versions import versions
from plants.core import atomic_files
from plants.core.reading import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType


try:
    import fcntl
except ImportError:  # a platform without it: no lock
    fcntl = None  # type: ignore[assignment]

_LOCK_FILE = ".lock"


class FolderLock:
    """Holds a folder until `release`; the lock file names the process that holds it.

    Raises
    ------
    UserError
        If another process holds the folder, or if the lock file is no plain file: it is written to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _LOCK_FILE
        self._handle: int | None = None
        while self._handle is None:
            self._handle = self._take()

    def _take(self) -> int | None:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise UserError(f"{self._path} is a link; no run writes one: delete it") from None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(handle)
            raise UserError(f"{self._path} is no plain file with one name; no run writes such a thing: delete it")
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            os.close(handle)
            raise UserError(
                f"{self._path.parent} is in use by process {holder}; wait for it, stop it, or choose another folder"
            ) from None
        if not self._is_in_place(handle):  # its last holder removed it between our open and our lock
            os.close(handle)
            return None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        return handle

    def _is_in_place(self, handle: int) -> bool:
        try:
            return self._path.lstat().st_ino == os.fstat(handle).st_ino
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the folder back; doing it twice does no harm."""
        if self._handle is not None:
            self._path.unlink(missing_ok=True)  # while it is held, so that nobody else's is removed
            os.close(self._handle)
            self._handle = None


_CONFIG, _VERSIONS, _TIMES = "config.json", "versions.json", "times.json"


class RunFolder:
    """A run's folder, held by this process; made by `create` or `resume`, used as a context.

    Attributes
    ----------
    path : Path
    command : str
        "design", ...
    config : dict
        The settings that decide the result, as stored.
    overrides : list of str
        What the user had changed on the command line.
    resumed : bool
    kept : bool
        True: what one process computes, others can read.
    changed_versions : list of str
        After a resume: what differs from the programs that began the run, in sentences.
    stages : Stages
    stage : callable
        Runs a stage once; later sessions read its result back: see `Stages.run`.
    """

    kept = True

    def __init__(self, path: Path, record: RunRecord, lock: FolderLock, *, resumed: bool) -> None:
        self.path = path
        self.command: str = record["command"]
        self.config: dict[str, Any] = record["config"]
        self.overrides: list[str] = record["overrides"]
        self.resumed = resumed
        self.changed_versions = self._note_versions()
        self._lock, self._inputs = lock, record["inputs"]
        self.stages = Stages(path, digest_of([record["config"], record["inputs"]]), self.note_time)

    @property
    def stage(self) -> Callable[..., Any]:
        """What runs a stage once."""
        return self.stages.run

    # -------------------------------------------------------------------------------------------- making and finding

    @classmethod
    def create(
        cls,
        path: Path | str,
        *,
        command: str,
        config: Mapping[str, Any],
        overrides: Sequence[str] = (),
        inputs: Iterable[Path | str] = (),
        plant: str | None = None,
    ) -> RunFolder:
        """Make a new run.

        Parameters
        ----------
        path : Path
            A folder that does not exist yet, or an empty one.
        command : str
        config : mapping
            All settings that decide the result (none that concern a session only).
        overrides : sequence of str
            What the user changed on the command line.
        inputs : sequence of Path
            The user's own files that the run reads (a plant file, recorded series): copied into ``inputs/``; when the
            run is resumed they must be unchanged.
        plant : str, optional
            Digest of a plant that stands in no file.

        Raises
        ------
        UserError
            If the folder holds something already, cannot be written, or is in use.
        """
        path = Path(path)
        record = {
            "schema": SCHEMA,
            "version": VERSION,
            "command": command,
            "config": dict(config),
            "overrides": list(overrides),
            "inputs": [_input_record(number, Path(file)) for number, file in enumerate(inputs)],
            **({} if plant is None else {"plant": plant}),
        }
        with _writing_to(path):
            path.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(path)
        with _releasing(lock), _writing_to(path):
            _refuse_content(path)
            formats.write_json(path / _CONFIG, record, sort=False)  # from here on the folder is a run
            stored = read_record(path)
            _keep_inputs(path, stored["inputs"], {})
            return cls(path, stored, lock, resumed=False)

    @classmethod
    def resume(cls, path: Path | str, *, command: str, moved: Mapping[str, str] | None = None) -> RunFolder:
        """Open a run that was stopped, or finished.

        Parameters
        ----------
        path : Path
        command : str
        moved : mapping, optional
            Where a file of the user's is now, by where the run has it from; its content must be the same.

        Raises
        ------
        UserError
            If the folder holds no run of this command, is in use, or if one of the user's files has changed.
        """
        path = Path(path)
        record = read_record(path)
        if record["command"] != command:
            raise UserError(f"{path} is a run of `sscq {record['command']}`, not of `sscq {command}`")
        with _writing_to(path):
            lock = FolderLock(path)
        with _releasing(lock):
            atomic_files.sweep(path)
            _check_inputs(record["inputs"], moved or {})
            _keep_inputs(path, record["inputs"], moved or {})
            return cls(path, record, lock, resumed=True)

    def readable(self, file: str) -> Path:
        """Return where one of the user's files is to be read: where it was, or its copy here once it is gone."""
        copies = {item["file"]: self.path / item["copy"] for item in self._inputs}
        return Path(file) if Path(file).is_file() else copies[file]

    def _note_versions(self) -> list[str]:
        present, place = versions(), self.path / _VERSIONS
        if not place.is_file():
            formats.write_json(place, present)
            return []
        begun = formats.read_json(place, kind=dict[str, str | None])
        return [
            f"{name} is {present.get(name)}, the run was begun with {begun.get(name)}"
            for name in sorted(begun.keys() | present.keys())
            if begun.get(name) != present.get(name)
        ]

    # ------------------------------------------------------------------------------------------------------- working

    def branch(self) -> RunFolder:
        """Return the same folder for a part of the job that runs beside others; see `Stages.branch`."""
        branch = copy(self)
        branch.stages = self.stages.branch()
        return branch

    def join(self, branches: Sequence[RunFolder]) -> None:
        """Go on from where all branches have come."""
        self.stages.join([branch.stages for branch in branches])

    def note_time(self, name: str, seconds: float) -> None:
        """Put a time into ``times.json``."""
        formats.write_json(self.path / _TIMES, {**self.times(), name: round(seconds, 3)})

    def times(self) -> dict[str, float]:
        """Return the times that were put into ``times.json`` so far [s]."""
        place = self.path / _TIMES
        return formats.read_json(place, kind=dict[str, float]) if place.is_file() else {}

    def write_json(self, name: str, value: Any) -> Path:
        """Write a result as JSON into the folder and return its path; see `experiments.runtime.formats`."""
        formats.write_json(self.path / name, value)
        return self.path / name

    def write_text(self, name: str, text: str) -> Path:
        """Write a text (a report, a table) into the folder and return its path."""
        atomic_files.write(self.path / name, text)
        return self.path / name

    def write_csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
        """Write a table into the folder and return its path."""
        formats.write_csv(self.path / name, header, rows)
        return self.path / name

    def write_npz(self, name: str, arrays: Mapping[str, Any]) -> Path:
        """Write named arrays into the folder and return its path."""
        formats.write_npz(self.path / name, arrays)
        return self.path / name

    # -------------------------------------------------------------------------------------------------------- ending

    def close(self) -> None:
        """Give the folder back to other processes."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt | OSError):
            error.add_note(f"go on with: sscq {self.command} resume={self.path}")
        self.close()


def new_path(command: str, root: Path | str = "runs") -> Path:
    """Make an empty folder below `root`, named by the command and the present time, and return its path."""
    stem = Path(root) / command / time.strftime("%Y%m%d-%H%M%S")
    for number in itertools.count(1):
        path = stem if number == 1 else stem.with_name(f"{stem.name}-{number}")
        with _writing_to(path), suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise AssertionError  # the count does not end


def read_record(path: Path | str) -> RunRecord:
    """Return the record of a run (command, config, overrides, inputs) without opening it.

    Raises
    ------
    UserError
        If the folder holds no run, or a link out of it or a device: no run writes such things.
    ValueError
        If the record is damaged.
    """
    path = Path(path)
    if not path.is_dir():
        raise UserError(f"there is no run folder {path}")
    if not (path / _CONFIG).is_file():
        raise UserError(f"{path} holds no run ({_CONFIG} is missing): nothing to go on with; start a new run")
    _refuse_ways_out(path)
    record: RunRecord = formats.read_json(path / _CONFIG, SCHEMA, VERSION, RunRecord)
    for number, item in enumerate(record["inputs"]):
        if item["copy"] != _copy(number, item["file"]):
            raise UserError(
                f"{path / _CONFIG} is damaged: no run keeps {item['file']!r} as {item['copy']!r}; take an intact copy"
            )
    user_settings.check_values(record["config"], f"{path / _CONFIG}")
    user_settings.check_words(record["overrides"])
    return record


def _refuse_ways_out(path: Path) -> None:
    """Refuse a folder with a link to somewhere else, or with anything but files and folders."""
    inside = path.resolve()
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            place = Path(folder, name)
            mode = place.lstat().st_mode
            if stat.S_ISLNK(mode) and not _target(place).is_relative_to(inside):
                raise UserError(f"{place} is a link to somewhere else, which no run makes; delete it")
            if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise UserError(f"{place} is neither a file nor a folder, which no run makes; delete it")


def _target(link: Path) -> Path:
    try:
        return link.resolve()
    except (OSError, RuntimeError):  # links in a circle lead nowhere
        return Path("/")


def _refuse_content(path: Path) -> None:
    """Refuse a folder that holds anything but the leftovers of a run that was killed before it began."""
    if (path / _CONFIG).exists():
        raise UserError(f"{path} holds a run already; go on with it by resume={path}, or choose another output=")
    atomic_files.sweep(path)
    foreign = sorted(item.name for item in path.iterdir() if item.name != ".lock")
    if foreign:
        raise UserError(f"output folder {path} is not empty ({foreign[0]}, ...); choose a new or an empty one")


def _input_record(number: int, file: Path) -> InputRecord:
    return {"file": str(file), "copy": _copy(number, file), "sha256": digest_of_file(file)}


def _copy(number: int, file: Path | str) -> str:
    return f"inputs/{number}-{Path(file).name}"


def _keep_inputs(path: Path, inputs: Iterable[InputRecord], moved: Mapping[str, str]) -> None:
    """Copy the user's files that are not in the folder yet."""
    for item in inputs:
        copy = path / item["copy"]
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            file = moved.get(item["file"], item["file"])
            atomic_files.write(copy, files.read_bytes(file, files.HASHED))


def _check_inputs(inputs: Iterable[InputRecord], moved: Mapping[str, str]) -> None:
    for item in inputs:
        file = Path(moved.get(item["file"], item["file"]))
        if not file.is_file():
            raise UserError(f"{file}, which the run reads, is not there; go on from the folder in which it was started")
        if digest_of_file(file) != item["sha256"]:
            raise UserError(f"{file} has changed since the run was started ({item['copy']} is what it was); start anew")


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    """Say of an error of the file system that it concerns the output folder."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(
            f"output folder {path} cannot be written: {reason}; choose another with output=FOLDER"
        ) from None


@contextmanager
def _releasing(lock: FolderLock) -> Iterator[None]:
    """Release the lock if the block fails."""
    try:
        yield
    except BaseException:
        lock.release()
        raise
