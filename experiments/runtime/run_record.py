"""What `config.json` of a run holds."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

SCHEMA, VERSION = "sscq-run", 1


class InputRecord(TypedDict):
    """One of the user's files.

    Attributes
    ----------
    file : str
        Where it was.
    copy : str
        Its copy, in the run's folder.
    sha256 : str
        Hash of its content.
    """

    file: str
    copy: str
    sha256: str


class RunRecord(TypedDict):
    """What ``config.json`` holds: all that decides a run's result, and what `resume=` goes by.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    command : str
        As in `sscq design`.
    config : mapping
        All settings that decide the result, by their parts.
    overrides : list of str
        What was typed.
    inputs : list of InputRecord
        The user's files that the run reads.
    plant : str
        Digest of a plant that was registered from Python; there where the plant stands in no file.
    """

    schema: str
    version: int
    command: str
    config: dict[str, Any]
    overrides: list[str]
    inputs: list[InputRecord]
    plant: NotRequired[str]
