"""Whatever a file from elsewhere holds, it is read or refused in a sentence; some seconds of it (more: `make fuzz`)."""

import random
from pathlib import Path

import pytest

from tests.fuzz import __main__ as command
from tests.fuzz import mutators
from tests.fuzz.readers import Reader, readers

FOUND = sorted(command.REGRESSIONS.iterdir())


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return readers(tmp_path_factory.mktemp("fuzz"))


def test_sound_files_are_read(known, tmp_path):
    for name, reader in known.items():
        for number, content in enumerate(reader.seeds):
            path = tmp_path / f"sound{number}{reader.ending}"
            path.write_bytes(content)
            try:
                reader.read(path)
            except ValueError as error:
                raise AssertionError(name) from error


def test_mutated_files_are_read_or_refused_within_time():
    assert command.fuzz(2_000, seed=1, seconds=20.0) == {}


@pytest.mark.parametrize("place", FOUND, ids=lambda place: place.name)
def test_what_was_found_once_is_read_or_refused(known, place, tmp_path):
    name = place.name.rsplit("-", 2)[0].replace("_", " ")
    reader = known[name]
    assert command.problem(reader, tmp_path / f"found{reader.ending}", place.read_bytes()) == ""


def test_what_is_wrong_with_a_reader_is_seen(tmp_path):
    def hasty(path):
        return Path(path).read_bytes()[3]

    place = tmp_path / "file"
    found = command.problem(Reader("", (), hasty), place, b"ab")
    assert found.startswith("IndexError: index out of range (test_fuzz.py")
    assert command.smaller(Reader("", (), hasty), place, b"ab", found) == b""
    assert command.problem(Reader("", (), hasty), place, b"abcd") == ""


def test_mutations_repeat_and_change():
    seeds = [b'{"a": [1, 2]}', b"0,1\n1,2\n"]
    first, again = ([mutators.mutated(s, seeds, random.Random(k)) for s in seeds for k in range(50)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 80
