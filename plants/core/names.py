"""Names given by users: found, or refused with the near miss."""

from __future__ import annotations

import difflib
import math
import re
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plants.core.quantities import Quantity


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return the message for an unknown name: what was asked, the near miss, what there is."""
    return f"no {what} {name!r}{did_you_mean(name, known)} (known: {', '.join(known) or 'none'})"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'near'?"``, or an empty string when nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def variable(name: str) -> str:
    """Return `name` as a part of a variable's name: itself where it can be, else cleaned, with a digest of its own."""
    if name.isascii() and f"x{name}".isidentifier():
        return name
    return f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_{zlib.crc32(name.encode()):08x}"


def identifier(name: str) -> str:
    """Return a name as every language takes it: what is no ASCII letter or digit becomes an underscore."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def alike(names: Iterable[str]) -> str:
    """Return which names differ though one identifier is made of them, for a message; empty where none do."""
    several = dict[str, set[str]]()
    for name in names:
        several.setdefault(identifier(name), set()).add(name)
    return ", ".join(" and ".join(map(repr, sorted(group))) for group in several.values() if len(group) > 1)


def comment(text: str) -> str:
    """Return a text as it may stand in a comment or a documentation string of any language, on one line.

    Nothing in it ends or begins a comment, a string or an element of a page, escapes what follows or begins a new line.
    """
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
    line = line.replace('"', "'").replace("\\", "/")
    return _ENDS.sub(lambda found: f"{found[0][0]} ", line)


_ENDS = re.compile(r"[*/](?=[*/)])|\((?=\*)|<(?=[/!?])|\?(?=\?)")


def position(what: str, known: Sequence[str], name: str) -> int:
    """Return the position of `name` in `known`, or raise ValueError with the near miss."""
    if name not in known:
        raise ValueError(unknown(f"name among the {what}:", name, known))
    return list(known).index(name)


def pick_values(
    what: str, quantities: Sequence[Quantity], given: Mapping[str, float] | Sequence[float] | None
) -> tuple[float, ...]:
    """Nominal values of `quantities` with those `given` (by name, or all in order) replaced; all finite."""
    values = [q.nominal for q in quantities]
    labels = [q.name for q in quantities]
    if isinstance(given, Mapping):
        for name, value in given.items():
            values[position(what, labels, name)] = float(value)
    elif given is not None:
        if len(given) != len(values):
            raise ValueError(f"{what} must have {len(values)} values ({', '.join(labels)}), got {len(given)}")
        values = [float(value) for value in given]
    for name, value in zip(labels, values, strict=True):
        if not math.isfinite(value):
            raise ValueError(f"{name!r} among the {what} must be finite, got {value}")
    return tuple(values)
