"""Sound files made unsound: bytes, numbers and words, nodes of JSON, cells of tables, members of archives."""

import io
import json
import re
import zipfile

WORDS = (
    b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1e308", b"1e-320", b"0", b"-0.0", b"-1", b"9" * 25, b"1" * 400,
    b'""', b"[]", b"{}", b"[" * 70, b"{" * 200, b'"\\ud800"', b'"\\u0000"', b"\xff\xfe", b"\x00", b"\r\n", b"\xef\xbb\xbf",
    b"'", b'"', b",", b";", b"#", b"*", b"&a", b"*a", b"!!x", b"${a}", b"_target_", b"hydra", b"../", b"\xe2\x80\xa8",
    b"inf", b"1_000", b"0x1p3", b"1e", b"--", b"= ", b"[System]", b"(", b")", b"if", b"2147483648", b"-9223372036854775809",
)  # fmt: skip
VALUES = (
    None, True, 0, -1, 1e308, -1e308, 5e-324, 10**30, 2**63, 2**127, "", "x", "e", "\0", "x" * 3000, [], {}, [[]], [None],
    {"": None}, [1, "a"], [1e308, 1e308], "nan", "inf", -0.0, 1.5, "${a}", "../x", [0.0] * 500,
)  # fmt: skip


def mutated(content, others, rng):
    """Return a file's content changed in one to four ways; `others` are what pieces may be taken from."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(_ways(content))(content, others, rng)
    return content


def _ways(content):
    if content[:2] == b"PK":
        return (_member, _member, *_BYTES)
    if content[:1] in (b"{", b"["):
        return (_node, _node, _node, _number, *_BYTES)
    return (_number, _line, _cell, *_BYTES)


def _place(content, rng):
    return rng.randrange(len(content) + 1)


def _flip(content, _, rng):
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def _cut(content, _, rng):
    start = _place(content, rng)
    return content[:start] + content[start + rng.choice((1, 2, 8, 64, 10**6)) :]


def _insert(content, _, rng):
    place = _place(content, rng)
    return content[:place] + rng.choice(WORDS) + content[place:]


def _repeat(content, _, rng):
    start = _place(content, rng)
    piece = content[start : start + rng.choice((1, 4, 40, 400))]
    return content[:start] + piece * rng.choice((2, 3, 50)) + content[start:]


def _splice(content, others, rng):
    other = rng.choice(others)
    return content[: _place(content, rng)] + other[_place(other, rng) :]


_BYTES = (_flip, _flip, _cut, _insert, _insert, _repeat, _splice)
_NUMBER = re.compile(rb"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def _number(content, _, rng):
    """Another number, or a word, in the place of one."""
    found = list(_NUMBER.finditer(content[:50_000]))
    if not found:
        return content
    one = rng.choice(found)
    return content[: one.start()] + rng.choice(WORDS) + content[one.end() :]


def _line(content, _, rng):
    lines = content.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], rng.choice((lines[one], b"", lines[one] * 2))
    return b"\n".join(lines)


def _cell(content, _, rng):
    cells = content.split(b",")
    cells[rng.randrange(len(cells))] = rng.choice(WORDS)
    return b",".join(cells)


def _node(content, _, rng):
    """A node of JSON that is something else, is missing, or has another name."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    holders = list(_holders(document))
    if not holders:
        return content
    holder = rng.choice(holders)
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    what = rng.randrange(4)
    if what == 0:
        holder.pop(key)
    elif what == 1 and isinstance(holder, dict):
        holder[rng.choice(("", "x", key.upper(), key + "s"))] = holder.pop(key)
    elif what == 2:
        holder[key] = rng.choice(holders)
        try:
            return json.dumps(document).encode()
        except ValueError:  # a circle
            return content
    else:
        holder[key] = rng.choice(VALUES)
    return json.dumps(document).encode()


def _holders(value):
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, (dict, list)) and one:
            yield one
            stack.extend(one.values() if isinstance(one, dict) else one[:50])


def _member(content, others, rng):
    """An archive whose check sums are right again after a member was changed."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # noqa: BLE001  (what a damaged archive raises depends on where it is damaged)
        return content
    if members:
        name = rng.choice(list(members))
        data = members.pop(name)
        head, body = data[:128], data[128:]
        ways = (_flip, _cut, _insert, _number)
        changed = (
            rng.choice(ways)(head, others, rng) + body if rng.randrange(2) else rng.choice(ways)(data, others, rng)
        )
        members[rng.choice((name, name, "inputs.npy", "x", "notes.npy"))] = changed
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
