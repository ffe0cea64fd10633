"""What the page shows of an export."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExportView:
    """One export and its proof.

    Attributes
    ----------
    target, title : str
        Name and what it is.
    status : {"ok", "failed", "not checked"}
    checker, reason : str
        Who ran it; why it failed or was not checked.
    bound, largest : float
        Error allowed and largest error found, as shares of the signal's range.
    samples : int
        Compared.
    signal : str
        The one with the largest error.
    rom_bytes : int or None
        Of code and constants.
    """

    target: str
    title: str
    status: str
    checker: str
    reason: str
    bound: float
    samples: int
    signal: str
    largest: float
    rom_bytes: int | None = None
