"""The cache executes what lies in it: nothing counts there that somebody else may have put there."""

import hashlib
import json
import os
import shutil
import warnings

import numpy as np
import pytest

from plants.core.kernel import cache, private_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, and a process that has loaded nothing and warned about nothing."""
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setattr(cache, "_functions", {})
    monkeypatch.setattr(cache, "_unwritable", set())
    return tmp_path / "cache"


@pytest.fixture
def doubled(folder, compiled):
    """A kernel that doubles its input, with its file of machine code; and one that triples its input."""
    kernels = []
    for factor in (2.0, 3.0):
        known = set(folder.glob("kernel_*.o"))
        kernel = compiled(lambda a, factor=factor: (factor * a,), 1, 1)
        np.testing.assert_array_equal(kernel(np.array([0.5])), factor * 0.5)
        kernels.append((kernel, (set(folder.glob("kernel_*.o")) - known).pop()))
    cache._functions.clear()  # as another process
    return kernels


def value(kernel):
    return float(np.squeeze(kernel(np.array([0.5]))))


def code_of(place):
    """The machine code of a sealed file: what its reader gives, whose label is the third line."""
    return private_folder.read_sealed(place, place.read_bytes().split(b"\n", 3)[2].decode())


def as_before(code):
    """An object as it was kept when a hash of its own was enough."""
    return json.dumps({"sscq kernel": 1, "sha256": hashlib.sha256(code).hexdigest()}).encode() + b"\n" + code


def test_folder_and_files_are_this_users_alone_whatever_the_mask(folder, compiled):
    mask = os.umask(0)
    try:
        compiled(lambda a: (2.0 * a,), 1, 1)(np.array([0.5]))
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 3  # source, object, key


def test_another_kernels_object_under_this_name_is_not_taken(doubled):
    (kernel, place), (_, other) = doubled
    shutil.copyfile(other, place)
    assert value(kernel) == 1.0


def test_an_object_with_a_hash_and_no_seal_is_not_taken(doubled):
    (kernel, place), (_, other) = doubled
    place.write_bytes(as_before(code_of(other)))
    assert value(kernel) == 1.0
    cache._functions.clear()
    place.write_bytes(as_before(b"\x7fELF" + b"\0" * 1000))  # garbage, which LLVM would die of
    assert value(kernel) == 1.0


def test_what_another_cache_sealed_is_not_taken(doubled, tmp_path, monkeypatch):
    (_, place), _ = doubled
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "other"))
    whole = place.read_bytes()
    label = whole.split(b"\n")[2].decode()
    (tmp_path / "other").mkdir(mode=0o700)
    private_folder.write_sealed(tmp_path / "other" / place.name, label, b"foreign")
    assert private_folder.read_sealed(tmp_path / "other" / place.name, label) == b"foreign"
    assert private_folder.read_sealed(place, label)
    shutil.copyfile(tmp_path / "other" / place.name, place)
    assert private_folder.read_sealed(place, label) is None
    monkeypatch.undo()


def test_a_sealed_file_counts_under_its_name_and_label_alone(tmp_path):
    private_folder.write_sealed(tmp_path / "a", "label", b"content")
    assert private_folder.read_sealed(tmp_path / "a", "label") == b"content"
    assert private_folder.read_sealed(tmp_path / "a", "another") is None
    shutil.copyfile(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").chmod(0o600)
    assert private_folder.read_sealed(tmp_path / "b", "label") is None
    (tmp_path / "key").unlink()
    assert private_folder.read_sealed(tmp_path / "a", "label") is None


def _linked(place):
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")


def _twice(place):
    os.link(place, place.with_name("second name"))


def _pipe(place):
    place.unlink()
    os.mkfifo(place)


@pytest.mark.parametrize(
    "change", [_linked, _twice, _pipe, lambda place: place.chmod(0o666)], ids=["link", "two names", "pipe", "open"]
)
def test_what_is_no_regular_file_of_this_user_alone_is_not_read_and_made_again(doubled, change):
    (kernel, place), _ = doubled
    change(place)
    assert private_folder.read(place) is None
    assert value(kernel) == 1.0
    assert private_folder.read(place) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="files are given away by root alone")
def test_a_file_or_a_folder_of_another_user_is_not_used(doubled, folder):
    (kernel, place), _ = doubled
    os.chown(place, 65534, 65534)
    assert private_folder.read(place) is None
    os.chown(folder, 65534, 65534)
    with pytest.warns(UserWarning, match="cannot be used .it belongs to another user.; compiling in memory"):
        assert value(kernel) == 1.0


def test_a_folder_that_others_can_write_to_is_not_used_and_told_once(doubled, folder):
    (kernel, place), (other, _) = doubled
    folder.chmod(0o777)
    stamp = place.stat().st_mtime_ns
    with pytest.warns(UserWarning, match=r"cannot be used \(others can write there, its mode is 0777: make it 0700\)"):
        assert value(kernel) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value(other) == 1.5
    assert (place.stat().st_mtime_ns, folder.stat().st_mode & 0o777) == (stamp, 0o777)


def test_a_folder_of_before_is_closed_and_a_folder_with_other_files_left_alone(tmp_path):
    for name, mode in (("kernel_ab.py", 0o700), ("thesis.tex", 0o755)):
        place = tmp_path / name
        place.mkdir(mode=0o755)
        (place / name).write_text("")
        private_folder.write(place / "kernel_cd.py", "")
        assert place.stat().st_mode & 0o777 == mode


def test_a_source_that_is_a_pipe_is_not_waited_for(folder):
    folder.mkdir(mode=0o700)
    os.mkfifo(folder / "kernel_ab.py")
    assert cache.title(folder / "kernel_ab.py") == ""
