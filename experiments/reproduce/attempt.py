"""One claim computed: its files written, the time it took, and what went wrong said instead of raised."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plants.core import atomic_files

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.reproduce.registry import PublishedClaim
    from experiments.reproduce.results import Reproduction


@dataclass(frozen=True, eq=False)
class ClaimRun:
    """A claim with what was found: `error` says what went wrong where nothing was; `seconds` it took."""

    claim: PublishedClaim
    found: Reproduction | None
    seconds: float
    error: str = ""

    @property
    def word(self) -> str:
        """The verdict, or "failed"."""
        return self.found.verdict if self.found else "failed"


def written(one: PublishedClaim, found: Reproduction, folder: Path) -> list[Path]:
    """Write picture and data; return their paths."""
    files = {f"{one.name}.svg": found.svg} if found.svg else {}
    files |= {f"{one.name}{name}.csv": text for name, text in found.data().items()}
    files |= {f"{one.name}.md": found.page} if found.page else {}
    for name, text in files.items():
        atomic_files.write(folder / name, text)
    return [folder / name for name in files]


def attempted(one: PublishedClaim, folder: Path) -> ClaimRun:
    """Reproduce a claim and write its files; what goes wrong is said, not raised."""
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of runs that are meant to leave what their form bears
            found = one.reproduce()
        written(one, found, folder)
    except Exception as error:  # noqa: BLE001  (whatever a claim's computation raises, the others go on)
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{one.name}: {type(error).__name__}: {error} ({place.name}, line {place.lineno})"
        return ClaimRun(one, None, time.perf_counter() - begun, text)
    return ClaimRun(one, found, time.perf_counter() - begun)
