"""Files that somebody else may have made: each is read within limits, or refused in one sentence."""

import io
import os
import resource
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from plants.core.reading import files, formats
from plants.core.reading.files import FileError

HEAD = "{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}"


def npy(descr, shape, data=b""):
    """An array's file whose header may lie."""
    head = HEAD.format(descr=descr, shape=shape).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


READERS = (files.read_bytes, files.read_text, files.digest, formats.read_json, formats.read_npz, formats.csv_rows)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(FileError, match=f"{place} is no regular file"):
            list(read(place))
    with pytest.raises(IsADirectoryError):
        list(read(tmp_path))
    with pytest.raises(FileError, match="zero byte"):
        list(read(tmp_path / "a\0b"))


def test_no_more_is_read_than_was_allowed(tmp_path):
    place = tmp_path / "file"
    place.write_bytes(b"12345678")
    assert files.read_bytes(place, 8) == b"12345678"
    with pytest.raises(FileError, match="larger than"):
        files.read_bytes(place, 7)
    with place.open("wb") as stream:
        stream.truncate(2**40)  # claims a tebibyte, holds nothing
    with pytest.raises(FileError, match="larger than 32 MiB"):
        files.read_text(place)
    with pytest.raises(FileError, match="larger than 1024 MiB"):
        files.digest(place)


def test_files_of_the_system_do_not_say_their_size():
    assert files.read_bytes("/proc/self/status").startswith(b"Name:")


def test_a_link_is_followed_only_where_it_may_be(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    assert files.read_text(tmp_path / "link") == "text"
    with pytest.raises(OSError, match="[Ll]ink"):
        files.read_bytes(tmp_path / "link", links=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'"\xff"', "is not complete JSON"),
        (b"[" * 100_000, "is not complete JSON: maximum recursion"),
        (b"[" * 65 + b"0" + b"]" * 65, "nested deeper than 64"),
        (b'{"a": [0, {"b": ' + b"1" * 400 + b"}]}", r"a\[1\]\.b: expected a finite number, got one of 400 digits"),
        (b"1" * 5000, "too large"),
        (b"[1e999]", "too large"),
        (b'"\\ud800"', "is not complete JSON"),
        (b"[1,\n -Infinity]", "Infinity is no JSON number, line 2 column 3"),
        (b"", "is not complete JSON"),
    ],
    ids=range(9),
)
def test_json_that_is_none_or_of_no_use_is_refused(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(FileError, match=message):
        formats.read_json(tmp_path / "x.json")


def test_json_keeps_the_states_of_random_generators_and_what_is_nested_deep_enough():
    assert formats.json_value(str(2**128 - 1), "x") == 2**128 - 1
    formats.json_value("[" * 64 + "]" * 64, "x")


def test_json_of_another_kind_is_refused_by_its_place():
    with pytest.raises(FileError, match=r"x is damaged: Expected `str`, got `int` - at `\$\[\.\.\.\]`"):
        formats.json_value('{"a": 1}', "x", dict[str, str])


def test_a_csv_cell_that_is_too_long_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "x.csv").write_text('1,"' + "x" * 200_000)
    with pytest.raises(FileError, match="is no CSV text: field larger than field limit"):
        list(formats.csv_rows(tmp_path / "x.csv"))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.array(3.5), np.zeros((0, 3)),
        np.array(["a", "bcd"]), np.array([True]), np.array([1 + 2j]), np.array([], dtype=np.uint8),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)  # fmt: skip
def test_plain_arrays_are_read_back_and_may_be_written_to(tmp_path, array):
    np.savez_compressed(tmp_path / "x.npz", array=array)
    found = formats.read_npz(tmp_path / "x.npz")["array"]
    np.testing.assert_array_equal(found, array)
    assert (found.dtype, found.flags.writeable) == (array.dtype, True)


@pytest.mark.parametrize(
    "content",
    [
        npy("<f8", (2**40, 2)),  # 16 TiB
        npy("<f8", (3,), b"\0" * 16),
        npy("<f8", (-1, -1), b"\0" * 8),
        npy("|O", (1,), b"\0" * 8),
        npy([("a", "<f8", (2**40,))], (1,), b"\0" * 8),
        npy("<U0", (2**50,)),
        npy("|V99999999999", (1,)),
        b"\x93NUMPY\x03\x00\xff\xff\xff\xff" + b"{" * 100,
        b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"(" * 9000,
        b"",
    ],
    ids=range(10),
)
def test_arrays_that_lie_about_themselves_are_refused(tmp_path, content):
    with pytest.raises(FileError, match="no complete NPZ of plain arrays"):
        formats.read_npz(npz(tmp_path / "x.npz", x=content))


def test_an_archive_that_inflates_is_refused_before_memory_is_taken(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            archive.writestr(f"{k}.npy", bytes(100 * 2**20))
    assert (tmp_path / "x.npz").stat().st_size < 2**20
    with pytest.raises(FileError, match="holds more arrays than is read"):
        formats.read_npz(tmp_path / "x.npz")


def test_an_archive_that_lies_about_its_sizes_is_refused(tmp_path):
    place = npz(tmp_path / "x.npz", x=npy("<f8", (4_000_000,), bytes(32_000_000)))
    whole = bytearray(place.read_bytes())
    directory = whole.rindex(b"PK\x01\x02")
    whole[directory + 24 : directory + 28] = (100).to_bytes(4, "little")  # the size when unpacked
    place.write_bytes(whole)
    with pytest.raises(FileError, match="no complete NPZ"):
        formats.read_npz(place)


def test_reading_the_largest_json_stays_below_a_gigabyte(tmp_path):
    (tmp_path / "x.json").write_bytes(b"[" + b"[]," * (formats.JSON // 3 - 2) + b"[]]")
    code = "import sys; from plants.core.reading import formats; print(len(formats.read_json(sys.argv[1])))"
    limit = 2**30
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.json")], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert int(done.stdout) > 5_000_000, done.stderr


def test_the_arrays_of_a_file_may_be_no_archive_at_all():
    with pytest.raises(FileError, match="x is no complete NPZ"):
        formats.npz_value(io.BytesIO(b"PK").getvalue(), "x")


@pytest.mark.parametrize("order", ["<", ">"])
def test_words_of_what_is_no_character_are_refused(tmp_path, order):
    words = np.array(["e", "e_rate"]).astype(f"{order}U6")
    np.savez(tmp_path / "x.npz", names=words)
    assert formats.read_npz(tmp_path / "x.npz")["names"].tolist() == ["e", "e_rate"]
    raw = words.view(np.dtype(np.uint32).newbyteorder(order))
    raw[1] = 0x110000  # the first number beyond the last character
    np.savez(tmp_path / "x.npz", names=words)
    with pytest.raises(FileError, match="words with what is no character"):
        formats.read_npz(tmp_path / "x.npz")
