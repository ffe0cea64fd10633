"""JSON, CSV and NPZ: exact, deterministic, and read without executing anything."""

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from experiments.runtime import formats

numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(values)
def test_json_reads_back_exactly(tmp_path_factory, value):
    place = tmp_path_factory.getbasetemp() / "value.json"
    formats.write_json(place, value)
    assert formats.read_json(place) == value


@given(st.dictionaries(st.text(), numbers, max_size=5))
def test_json_does_not_depend_on_the_order_of_keys(value):
    assert formats.json_text(value) == formats.json_text(dict(reversed(value.items())))


def test_json_of_arrays_dataclasses_and_paths():
    @dataclass
    class Part:
        gains: tuple[float, ...]

    value = {"part": Part((1.0, 2.0)), "array": np.eye(2), "count": np.int64(3), "path": Path("a/b"), "flag": np.True_}
    text = formats.json_text(value).replace("\n", "").replace(" ", "")
    assert text == '{"array":[[1.0,0.0],[0.0,1.0]],"count":3,"flag":true,"part":{"gains":[1.0,2.0]},"path":"a/b"}'


def test_numbers_that_are_not_finite_have_no_value():
    assert formats.json_text([math.nan, math.inf, -math.inf, np.float64("nan")]).split() == [
        "[", "null,", "null,", "null,", "null", "]",
    ]  # fmt: skip


def test_json_refuses_what_it_does_not_know():
    with pytest.raises(TypeError, match="got object"):
        formats.json_text({"x": object()})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "sscq-kb", "version": 1', "not complete JSON"),
        ("NaN", "NaN is no JSON number"),
        ('{"schema": "other", "version": 1}', "must be of schema 'sscq-kb', got 'other'"),
        ('{"schema": "sscq-kb", "version": 7}', "has version 7 of schema 'sscq-kb'; this program reads version 1"),
        ("[]", "must be of schema 'sscq-kb', got None"),
    ],
)
def test_json_of_another_kind_is_refused(tmp_path, text, message):
    (tmp_path / "kb.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        formats.read_json(tmp_path / "kb.json", "sscq-kb", 1)


@given(arrays(np.float64, array_shapes(max_side=4)))
def test_npz_reads_back_exactly_with_equal_bytes(tmp_path_factory, array):
    place = tmp_path_factory.getbasetemp() / "arrays.npz"
    formats.write_npz(place, {"b": array, "a": array.T})
    first = place.read_bytes()
    formats.write_npz(place, {"a": np.ascontiguousarray(array.T), "b": array})
    assert place.read_bytes() == first
    read = formats.read_npz(place)
    np.testing.assert_array_equal(read["b"], array)
    np.testing.assert_array_equal(read["a"], array.T)


def test_npz_neither_writes_nor_reads_objects(tmp_path):
    with pytest.raises(ValueError, match="holds Python objects"):
        formats.write_npz(tmp_path / "x.npz", {"x": np.array([object()])})
    assert list(tmp_path.iterdir()) == []
    np.savez(tmp_path / "evil.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="no complete NPZ of plain arrays"):
        formats.read_npz(tmp_path / "evil.npz")


def test_a_truncated_npz_is_refused(tmp_path):
    formats.write_npz(tmp_path / "x.npz", {"x": np.arange(10.0)})
    whole = (tmp_path / "x.npz").read_bytes()
    for length in (0, 3, len(whole) // 2):
        (tmp_path / "x.npz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"x\.npz is no complete NPZ"):
            formats.read_npz(tmp_path / "x.npz")


def test_npz_carries_no_time(tmp_path):
    formats.write_npz(tmp_path / "x.npz", {"x": [1.0]})
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@given(st.lists(st.tuples(numbers, numbers), max_size=5))
def test_csv_reads_back_exactly(tmp_path_factory, rows):
    place = tmp_path_factory.getbasetemp() / "table.csv"
    formats.write_csv(place, ["time [s]", "e"], rows)
    header, *lines = place.read_text().splitlines()
    assert header == "time [s],e"
    assert [tuple(float(cell) for cell in line.split(",")) for line in lines] == rows


def test_csv_leaves_cells_without_a_value_empty_and_refuses_ragged_rows(tmp_path):
    formats.write_csv(tmp_path / "t.csv", ["a", "b"], np.array([[1.0, math.nan], [math.inf, 0.1]]))
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n1.0,\n,0.1\n"
    with pytest.raises(ValueError, match=r"must have 2 cells \(a, b\), got 1"):
        formats.write_csv(tmp_path / "t.csv", ["a", "b"], [[1.0]])
