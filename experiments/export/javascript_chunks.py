"""Long straight-line code in pieces: JavaScript engines compile no function beyond some size, they interpret it.

Pieces are functions one after the other. What a later one needs of an earlier one goes through an array; the memory is
written by the last one alone. The operations and their order are those of the whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZE = 1000
"""Statements in a piece: V8 compiles functions of up to 60 kB of bytecode, which is some three times as much."""
_NAME = re.compile(r"\b[vsm]\d+\b")
_DEFINED = re.compile(r"const ([vm]\d+) =")


def function(
    name: str, loads: Mapping[str, str], lines: Sequence[str], stores: Sequence[str], size: int = SIZE
) -> list[str]:
    """Return a function of the memory ``m``, in pieces where it is long.

    Parameters
    ----------
    name : str
    loads : mapping of name to statement
        Statements that read the memory.
    lines : sequence of str
        Statements, each of which defines one name.
    stores : sequence of str
        Statements that write the memory, after all else.
    """
    if len(lines) <= size:
        return _body(name, "m", [*loads.values(), *lines, *stores])
    pieces = [list(lines[k : k + size]) for k in range(0, len(lines), size)]
    pieces[-1] += stores
    home = {found[1]: k for k, piece in enumerate(pieces) for line in piece if (found := _DEFINED.match(line))}
    used = [set(_NAME.findall("\n".join(piece))) for piece in pieces]
    wanted = sorted({word for k, words in enumerate(used) for word in words if home.get(word, k) < k})
    places = {word: place for place, word in enumerate(wanted)}
    text = [f"  const held_{name} = new Float64Array({len(wanted)});"]
    for k, piece in enumerate(pieces):
        before = [statement for word, statement in loads.items() if word in used[k]]
        before += [_load(word, place) for word, place in places.items() if word in used[k] and home[word] < k]
        after = [_store(word, place) for word, place in places.items() if home[word] == k]
        text += _body(f"{name}_{k}", "m, h", [*before, *piece, *after])
    calls = [f"{name}_{k}(m, held_{name});" for k in range(len(pieces))]
    return [*text, *_body(name, "m", calls)]


def _load(word: str, place: int) -> str:
    return f"const {word} = h[{place}];" if word.startswith("v") else f"const {word} = h[{place}] > 0;"


def _store(word: str, place: int) -> str:
    return f"h[{place}] = {word};" if word.startswith("v") else f"h[{place}] = {word} ? 1 : 0;"


def _body(name: str, arguments: str, lines: Sequence[str]) -> list[str]:
    return [f"  function {name}({arguments}) {{", *(f"    {line}" for line in lines), "  }"]
