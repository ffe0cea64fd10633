"""The teaching signal: written and read back exactly, and files that are not one are told by file and row."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.teaching.teaching_signal import SCHEMA, TeachingSignal, balanced, importance_of

NUMBERS = ("situation", "time", "inputs", "gains", "weight", "fitness")


def signal(n=5, channels=1, seed=0, names=("step up", "rest, with noise")):
    rng = np.random.default_rng(seed)
    suffixes = [""] if channels == 1 else [f"_{k + 1}" for k in range(channels)]
    return TeachingSignal(
        situation=rng.integers(0, len(names), n),
        time=np.arange(n) * 0.1,
        inputs=rng.normal(size=(n, 3 * channels)),
        gains=rng.uniform(0.0, 10.0, (n, 3 * channels)),
        weight=rng.uniform(size=n),
        fitness=rng.exponential(size=n),
        input_names=tuple(f"{name}{s}" for s in suffixes for name in ("error", "error_rate", "error_integral")),
        gain_names=tuple(f"{name}{s}" for s in suffixes for name in ("kp", "ki", "kd")),
        situation_names=names,
    )


def same(a, b):
    for field in fields(TeachingSignal):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name), err_msg=field.name)


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("clairvoyant", [False, True])
def test_read_back_it_is_the_same_to_the_bit(tmp_path, channels, clairvoyant):
    written = replace(signal(channels=channels), clairvoyant=clairvoyant)
    path = written.save(tmp_path / "signal.csv")
    same(TeachingSignal.load(str(path)), written)
    assert len(written) == 5
    assert [p.name for p in tmp_path.iterdir()] == ["signal.csv"]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=10, max_size=10),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=3),
)
def test_any_numbers_and_names_survive(tmp_path_factory, numbers, names):
    row = np.array(numbers)
    written = replace(
        signal(1, names=tuple(names)), situation=np.array([len(names) - 1]), time=row[:1], inputs=row[None, 1:4],
        gains=row[None, 4:7], weight=row[7:8], fitness=row[8:9],
    )  # fmt: skip
    same(TeachingSignal.load(written.save(tmp_path_factory.mktemp("signal") / "s.csv")), written)


def test_without_rows_it_is_still_one(tmp_path):
    empty = signal(0)
    same(TeachingSignal.load(empty.save(tmp_path / "empty.csv")), empty)


def test_writing_the_same_again_is_the_same_file(tmp_path):
    first = signal().save(tmp_path / "a.csv").read_bytes()
    assert signal().save(tmp_path / "b.csv").read_bytes() == first
    path = signal(7).save(tmp_path / "a.csv")  # in place of the old one
    assert len(TeachingSignal.load(path)) == 7
    assert path.read_text(encoding="utf-8").splitlines()[0] == f'# {SCHEMA},clairvoyant=0,step up,"rest, with noise"'


def edited(tmp_path, change):
    """A good file, its lines changed by `change(lines) -> text`."""
    path = signal().save(tmp_path / "signal.csv")
    path.write_text(change(path.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
    return path


def joined(lines):
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: "", f"is not a teaching signal of this version: expected a first line '# {SCHEMA}'"),
        (lambda lines: joined(["kp,ki,kd", "1,2,3"]), "is not a teaching signal of this version"),
        (lambda lines: joined([lines[0].replace("/1", "/2"), *lines[1:]]), "is not a teaching signal of this version"),
        (lambda lines: lines[0] + "\n", "row 1 is cut off"),
        (lambda lines: joined([lines[0], lines[1][:20]]), "row 2 is cut off, or the columns"),
        (lambda lines: joined(lines)[:-30], "row 7 is cut off"),
        (lambda lines: joined(lines)[:-2], "row 7 is cut off"),  # in the middle of the last number
        (lambda lines: joined([*lines[:4], lines[4][:25], *lines[5:]]), "row 5 must be 10 finite numbers, got"),
        (lambda lines: joined([*lines[:4], lines[4] + ",1.0", *lines[5:]]), "row 5 must be 10 finite numbers, got"),
        (
            lambda lines: joined([*lines[:2], "0,nan" + lines[2][5:], *lines[3:]]),
            "row 3 must be 10 finite numbers, got",
        ),
        (lambda lines: joined([*lines[:2], "0,x,1,1,1,1,1,1,1,1"]), "row 3 must be 10 finite numbers, got .*'x'"),
        (
            lambda lines: joined([*lines[:2], "2,0.1,1,1,1,1,1,1,1,1"]),
            "row 3 is of situation 2, but the first line names",
        ),
        (lambda lines: joined([*lines[:2], "0.5,0.1,1,1,1,1,1,1,1,1"]), "row 3 is of situation 0.5"),
        (lambda lines: joined([*lines[:2], "-1,0.1,1,1,1,1,1,1,1,1"]), "row 3 is of situation -1"),
        (lambda lines: joined([*lines[:2], "", *lines[2:]]), r"row 3 must be 10 finite numbers, got \[\]"),
    ],
)
def test_other_files_are_refused_by_file_and_row(tmp_path, change, says):
    path = edited(tmp_path, change)
    with pytest.raises(ValueError, match=says) as error:
        TeachingSignal.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("inputs", (5, 2)), ("gains", (4, 3)), ("weight", (6,)), ("fitness", (5, 1)), ("situation", (0,))],
)
def test_columns_must_fit(name, shape):
    with pytest.raises(ValueError, match=f"teaching signal: {name} must have shape .* got"):
        replace(signal(), **{name: np.zeros(shape)})


def test_pooled_rows_follow_one_another():
    first, second = signal(3), replace(signal(2, seed=1), clairvoyant=True)
    pooled = TeachingSignal.pooled([first, second])
    assert len(pooled) == 5
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(pooled, name)[:3], getattr(first, name))
        np.testing.assert_array_equal(getattr(pooled, name)[3:], getattr(second, name))
    assert pooled.clairvoyant  # what no controller can know stays marked
    assert not TeachingSignal.pooled([first, first]).clairvoyant


def test_plant_outputs_stand_behind_the_error_signals(tmp_path):
    plain = signal(channels=2)
    columns = np.column_stack([plain.inputs, np.arange(5.0), -np.arange(5.0)])
    written = replace(plain, inputs=columns, input_names=(*plain.input_names, "speed", "angle"))
    path = written.save(tmp_path / "signal.csv")
    same(TeachingSignal.load(path), written)
    path.write_text(path.read_text(encoding="utf-8").replace(",kd_2", ""), encoding="utf-8")
    with pytest.raises(ValueError, match="row 3 must be 17 finite numbers"):
        TeachingSignal.load(path)


# ------------------------------------------------------------------------------------------ shares of the situations

SHARED = ("calm", "rough", "flat")


def pooled_of(weight=(1.0, 0.5, 0.25, 0.25, 0.0), situation=(0, 1, 1, 1, 2)):
    n = len(weight)
    return TeachingSignal(
        np.array(situation), np.arange(float(n)), np.ones((n, 3)), np.ones((n, 3)), np.array(weight), np.ones(n),
        ("error", "error_rate", "error_integral"), ("kp", "ki", "kd"), SHARED,
    )  # fmt: skip


def sums(signal):
    return np.bincount(signal.situation, weights=signal.weight, minlength=3)


def test_weights_of_a_situation_are_scaled_together_and_their_sum_stays():
    """By hand: weights sum up to 1 and 1; shares 1 and 3 make 0.5 and 1.5 of the 2 in all."""
    found = balanced(pooled_of(), (1.0, 3.0, 7.0))
    np.testing.assert_allclose(found.weight, [0.5, 0.75, 0.375, 0.375, 0.0], rtol=1e-15)


def test_equal_shares():
    found = balanced(pooled_of((1.0, 0.2, 0.1, 0.1, 0.3)), importance_of("equal", (1.0, 5.0, 9.0)))
    np.testing.assert_allclose(sums(found), [1.7 / 3.0] * 3, rtol=1e-15)


def test_shares_by_the_reference_fitness():
    """Twice the fitness, half the share; its sign says nothing."""
    found = sums(balanced(pooled_of((1.0, 0.2, 0.1, 0.1, 0.3)), importance_of("reference", (2.0, -4.0, 8.0))))
    np.testing.assert_allclose(found / found[0], [1.0, 0.5, 0.25], rtol=1e-14)


def test_rows_as_they_come():
    assert importance_of("rows", (1.0, 2.0)) is None


@pytest.mark.parametrize("shares", [(1.0, 1.0), (1.0, 0.0, 1.0), (1.0, np.nan, 1.0)])
def test_every_situation_needs_a_share(shares):
    with pytest.raises(ValueError, match="one positive number for each of the 3 situations"):
        balanced(pooled_of(), shares)


def test_a_reference_fitness_of_0_cannot_be_divided_by():
    with pytest.raises(ValueError, match="needs a reference fitness that is not 0"):
        importance_of("reference", (1.0, 0.0))
