"""PID laws as plain data: the form of the law that a knowledge base was designed for, and back.

Only settings that differ from their defaults are written; an infinite end of a range is null.
"""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from controllers.pid import PID, TwoDegreePID
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controllers.protocols import Law

LAWS: dict[str, type[PID | TwoDegreePID]] = {law.__name__: law for law in (PID, TwoDegreePID)}


def describe(law: Law) -> dict[str, Any]:
    """Return a law as plain data.

    Raises
    ------
    TypeError
        If it is none of the project's PID laws.
    """
    name = type(law).__name__
    if type(law) is not LAWS.get(name):
        raise TypeError(f"a knowledge base schedules the gains of {' or '.join(LAWS)}, got {name}")
    settings: dict[str, Any] = {"law": name}
    for item in fields(law):
        value = getattr(law, item.name)
        if item.init and (item.default is MISSING or value != item.default):
            settings[item.name] = _ends(value) if isinstance(value, tuple) else value
    return settings


def build(settings: Mapping[str, Any]) -> PID | TwoDegreePID:
    """Return the law of what :func:`describe` gave; an empty mapping is ``PID()``.

    Raises
    ------
    ValueError
        For an unknown law or setting (with the near miss), or a value that the law refuses.
    """
    given = dict(settings)
    name = given.pop("law", "PID")
    if name not in LAWS:
        raise ValueError(unknown("PID law", str(name), tuple(LAWS)))
    known = tuple(item.name for item in fields(LAWS[name]) if item.init)
    for key in given:
        if key not in known:
            raise ValueError(unknown(f"setting of {name}", key, known))
    if given.get("limits") is not None:
        ends = zip(given["limits"], (-math.inf, math.inf), strict=False)
        given["limits"] = tuple(open_end if end is None else end for end, open_end in ends)
    return LAWS[name](**given)


def _ends(values: tuple[Any, ...]) -> list[Any]:
    return [None if isinstance(value, float) and math.isinf(value) else value for value in values]
