"""Sentences out of figures: paragraphs, ranges, lists."""

from __future__ import annotations

import statistics
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def paragraph(*sentences: str) -> list[str]:
    """Return sentences as lines."""
    return textwrap.wrap(" ".join(sentence for sentence in sentences if sentence), 120, break_on_hyphens=False)


def span(values: Iterable[float]) -> str:
    """Say from where to where numbers lie."""
    low, high = min(found := list(values)), max(found)
    texts = [f"{value:.2g}" if value < 100.0 else f"{value:,.0f}" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names) if names else "none"


def median(values: Iterable[float]) -> str:
    """Say which number lies in the middle."""
    return f"{statistics.median(values):.2g}"
