"""What `operation.json` holds."""

from __future__ import annotations

from typing import TypedDict

from sscq.operation.contest import OperationTotals  # noqa: TC001  (the schema is made of it)
from sscq.operation.supervisor import WindowRecord  # noqa: TC001

SCHEMA = "sscq.operation/1"


class OperatedSeed(TypedDict):
    """All contenders with the same random numbers.

    Attributes
    ----------
    seed : int
    timelines : mapping of contender to list of WindowRecord
        In order of time.
    totals : mapping of contender to OperationTotals
    """

    seed: int
    timelines: dict[str, list[WindowRecord]]
    totals: dict[str, OperationTotals]


class OperationRecord(TypedDict):
    """What `sscq operate` writes.

    Attributes
    ----------
    schema : str
        Says that it is one.
    plant : str
    knowledge_base : str
        Hash of the content of the one that the run begins with.
    drift : str
        Its course, as typed.
    units : mapping
        Of the parameters that drift.
    window : float
        Length of a window [s].
    windows : int
    travel : float
        Largest mean actuator travel that a renewal may use.
    runs : list of OperatedSeed
    """

    schema: str
    plant: str
    knowledge_base: str
    drift: str
    units: dict[str, str]
    window: float
    windows: int
    travel: float
    runs: list[OperatedSeed]
