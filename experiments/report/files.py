"""The files that a run's page is drawn from, and nothing else: `report.json` and the recorded responses.

`report.json` holds what the report says and no other file of the run has: situations in words, results with their
intervals, margins, the verdict with its reasons, warnings. Nothing that is read is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.report.page import write_report
from experiments.report.plain_data import plain, record
from experiments.report.recorded import with_recordings
from experiments.report.records.report_data import ReportData
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record

if TYPE_CHECKING:
    from pathlib import Path

NAME, SCHEMA, VERSION = "report.json", "sscq-report", 1
RESPONSES = "stages/responses/responses.npz"
_LARGEST = 2_000_000_000  # bytes of one file, beyond which it is none of a run


def save(folder: Path, data: ReportData) -> None:
    """Write `report.json`; curves are in the file of the recorded responses."""
    formats.write_json(folder / NAME, {"schema": SCHEMA, "version": VERSION, "report": plain(data)}, sort=False)


def load(folder: Path) -> ReportData:
    """Return everything that the page of a run shows.

    Raises
    ------
    UserError
        If the folder holds no design, or a file is missing or damaged: which, and what to do.
    """
    command = read_record(folder)["command"]
    if command != "design":
        raise UserError(
            f"{folder} is a run of `sscq {command}`; only the report of `sscq design` is drawn from its files"
        )
    stored = _read(folder, NAME, lambda path: formats.read_json(path, SCHEMA, VERSION))
    arrays = _read(folder, RESPONSES, formats.read_npz)
    try:
        return with_recordings(record(ReportData, stored.get("report"), NAME), arrays)
    except (ValueError, IndexError) as error:
        raise UserError(f"{folder} holds no whole report: {error}; {_again(folder)}") from None


def _read(folder: Path, name: str, read: Any) -> Any:
    path = folder / name
    if not path.is_file():
        raise UserError(
            f"{path} is missing: the run is unfinished or of an earlier release, or the file was deleted; "
            f"{_again(folder)}"
        )
    if path.stat().st_size > _LARGEST:
        raise UserError(f"{path} has {path.stat().st_size} bytes, more than any run writes; {_again(folder)}")
    try:
        return read(path)
    except ValueError as error:
        raise UserError(f"{error}; {_again(folder)}") from None


def _again(folder: Path) -> str:
    return f"`sscq design resume={folder}` goes on from the stages that are there and writes the report again"


def draw(folder: Path) -> Path:
    """Write ``report.html`` of a run from the files in its folder and return its path; the same files, the same bytes.

    Raises
    ------
    UserError
        See :func:`load`.
    """
    return write_report(load(folder), folder / "report.html")
