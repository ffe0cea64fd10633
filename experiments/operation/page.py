"""The page of `sscq operate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.operation import told
from experiments.report.drawing.html import document, element

if TYPE_CHECKING:
    from collections.abc import Mapping


def page(given: Mapping[str, Any]) -> str:
    """Return the page."""
    return document("In operation:", given["plant"], element("pre", "\n".join(told.lines(given))))
