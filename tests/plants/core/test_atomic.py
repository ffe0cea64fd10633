"""Files that are whole or absent, after failures and after kills."""

import itertools
import os

import pytest

from plants.core import atomic_files


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    atomic_files.write(tmp_path / "x", "old")

    def fail():
        with atomic_files.writing(tmp_path / "x") as stream:
            stream.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("x", "old")]


def test_sweeping_removes_temporaries_only(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("deep/.x.json.tmp-1-0", ".y.tmp-7-1", ".hidden", "deep/kept"):
        (tmp_path / name).write_text("")
    (tmp_path / "deep/.stage.tmp-1-2").mkdir()
    (tmp_path / "deep/.stage.tmp-1-2/.a.tmp-1-3").write_text("")
    atomic_files.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [".hidden", "deep", "kept"]


def test_a_leftover_of_a_killed_process_with_the_same_number_is_in_nobodys_way(tmp_path, monkeypatch):
    leftover = tmp_path / f".x.tmp-{os.getpid()}-0"
    leftover.write_text("half")
    monkeypatch.setattr(atomic_files, "_numbers", itertools.count())
    atomic_files.write(tmp_path / "x", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "new", leftover.name: "half"}


def test_the_file_before_is_kept_where_asked(tmp_path):
    path, previous = tmp_path / "x", tmp_path / "x.previous"
    for content in (b"1", b"2", b"3"):
        with atomic_files.writing(path, previous) as stream:
            stream.write(content)
        assert previous.exists() == (content != b"1")
    assert (path.read_bytes(), previous.read_bytes()) == (b"3", b"2")
