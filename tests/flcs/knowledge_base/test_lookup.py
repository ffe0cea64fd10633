"""Look-up tables: exact at nodes, the stated bound between them, files that read back to the bit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from flcs import KnowledgeBaseError, LookupTable
from flcs.knowledge_base import tabulation
from plants.core.tracing.trace import names, trace


@pytest.fixture
def table(kb):
    return kb.lookup_table(points=(9, 5), tolerance=None)


def far_and_near(kb, n=4_000):
    return np.random.default_rng(8).uniform(-9.0, 9.0, (n, len(kb.input_names)))


@pytest.mark.parametrize("shape", ["triangular", "gaussian", "trapezoid"])
def test_the_stated_error_is_a_bound_everywhere(builders, shape):
    kb = builders["kb"](shape)
    table = kb.lookup_table()
    assert table.error <= 0.01
    x = far_and_near(kb)
    worst = np.abs(table.gains(x) - kb.gains(x)).max() / 10.0
    # The error is looked for at four places a cell and axis and at all kinks: between them it may be a little larger.
    assert worst <= 1.1 * table.error
    assert worst > 0.0


def test_the_grid_is_refined_until_the_tolerance_holds(builders):
    kb = builders["kb"]("trapezoid")
    coarse, fine = kb.lookup_table(points=3, tolerance=None), kb.lookup_table(points=3, tolerance=0.01)
    assert coarse.error > 0.05
    assert fine.error <= 0.01
    assert [axis.points for axis in fine.axes] == [axis.points for axis in fine.axes][::-1]
    assert fine.axes[0].points in {2**k + 1 for k in range(4, 10)}
    with pytest.raises(ValueError, match="allow a larger tolerance"):
        kb.lookup_table(tolerance=1e-9)


def test_nodes_are_exact(kb, table):
    mesh = np.stack([m.ravel() for m in np.meshgrid(*(axis.nodes for axis in table.axes), indexing="ij")], axis=1)
    np.testing.assert_allclose(table.gains(mesh), kb.gains(mesh), atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_the_error_is_also_looked_for_at_the_kinks(builders, seed):
    """Between kinks rules are bilinear, so a table of the corners alone often errs most at a rule's centre."""
    kb = builders["kb"](seed=seed)
    base = kb.channels[0]
    table = kb.lookup_table(points=2, tolerance=None)
    centres = [[v.centres[j] for v, j in zip(base.inputs, rule.terms, strict=True)] for rule in base.rules]
    at_centres = np.abs(table.gains(centres) - kb.gains(centres)).max() / 10.0
    assert table.error >= at_centres - 1e-14


@pytest.mark.parametrize("places", [1, 1_000])
def test_the_error_is_that_of_all_places_at_once(kb, table, monkeypatch, places):
    """However many are looked at together, the last part included: 1 000 places are no whole number of rows."""
    monkeypatch.setattr(tabulation, "_AT_ONCE", places)
    assert kb.lookup_table(tolerance=None, points=[a.points for a in table.axes]).error == table.error


def test_authority_leads_back_to_the_reference(builders):
    kb = builders["kb"](authority=0.7)
    table = kb.lookup_table()
    x = far_and_near(kb, 300)
    assert np.abs(table.gains(x, 0.7) - kb.gains(x)).max() <= 0.7 * 1.1 * 10.0 * table.error


def test_three_inputs_and_a_channel_of_several(several):
    table = several.lookup_table(1, points=(5, 9, 17), tolerance=None)
    assert [axis.name for axis in table.axes] == ["e", "z", "speed"]
    x = np.random.default_rng(0).uniform(-1.0, 3.0, (500, 4))
    worst = np.abs(table.gains(x[:, several.columns(1)]) - several.gains(x)[:, 3:]).max() / 10.0
    assert worst <= 1.1 * table.error


def test_default_grids(builders):
    assert [axis.points for axis in builders["kb"]().lookup_table(tolerance=None).axes] == [33, 33]
    three = builders["kb"](inputs=("e", "e_rate", "speed"))
    assert [axis.points for axis in three.lookup_table(tolerance=None).axes] == [17, 17, 17]


def test_block_and_arrays_agree(kb, table):
    program = trace(lambda x: table.block(x, 0.7), names("x", 2))
    x = far_and_near(kb, 60)
    expected = table.gains(x, 0.7)
    # Weighted sums in another order: a few roundings of numbers up to 10.
    np.testing.assert_allclose([program(*map(float, p)) for p in x], expected, atol=1e-13)
    np.testing.assert_allclose(np.transpose(table.block(tuple(x.T), 0.7)), expected, atol=1e-13)
    with pytest.raises(ValueError, match="a table of 4225 nodes is too large for a compiled loop"):
        kb.lookup_table(points=65, tolerance=None).block((0.0, 0.0))


def test_unknown_inputs_give_the_reference(kb, table):
    with np.errstate(invalid="ignore"):
        gains = table.gains([[np.nan, 0.0], [1e9, 0.0]])
    np.testing.assert_array_equal(gains, [kb.channels[0].reference] * 2)


def test_round_trip_is_exact(table, kb, tmp_path):
    path = tmp_path / "gains.csv"
    table.save(path)
    back = LookupTable.load(path)
    np.testing.assert_array_equal(back.values, table.values)
    for name in ("name", "axes", "gain_names", "low", "high", "reference", "fade", "error", "source"):
        assert getattr(back, name) == getattr(table, name)
    assert back.source == kb.content_hash
    x = far_and_near(kb, 50)
    np.testing.assert_array_equal(back.gains(x), table.gains(x))
    lines = path.read_text().splitlines()
    assert lines[1] == "e,e_rate,kp,ki,kd"
    assert len(lines) == 2 + 45


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# {", "{", "expected a first line"),
        ('"schema": 1', '"schema": 2', "expected 'sscq look-up table' of schema 1"),
        ('"fade": 1.0, ', "", "header: expected the keys fade"),
        ('"points": 5}', '"points": 1}', "at least 2 points"),
        ('"points": 5}', '"points": 4}', "expected 36 nodes, got 45"),
        ('"fade": 1.0', '"fade": 1.0, [', "header in line 1 is not complete JSON"),
        ("e,e_rate,kp,ki,kd", "e,e_rate,kp,ki,kz", "line 2: expected the columns"),
        ("-2.0,-4.0,", "-2.5,-4.0,", "line 3: the node is not at its place"),
        ("-2.0,-4.0,", "-2.0,-4.0,nan,", "line 3: expected 5 finite numbers"),
        ("-2.0,-4.0,", "-2.0,abc,", "line 3: could not convert"),
    ],
)
def test_damaged_files_are_named(table, tmp_path, old, new, message):
    path = tmp_path / "gains.csv"
    table.save(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(KnowledgeBaseError, match=message):
        LookupTable.load(path)


def test_a_cut_off_file_is_named(table, tmp_path):
    path = tmp_path / "gains.csv"
    table.save(path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(KnowledgeBaseError, match="expected 45 nodes, got 44; the file is cut off"):
        LookupTable.load(path)


def test_wrong_shapes_are_refused(kb, table):
    with pytest.raises(ValueError, match=r"inputs must have shape \(n, 2\)"):
        table.gains([0.0, 0.0])
    with pytest.raises(ValueError, match="points must be at least 2"):
        kb.lookup_table(points=(3, 1))
    with pytest.raises(ValueError, match="finite values of shape"):
        replace(table, values=table.values[1:])


@pytest.mark.parametrize("changes", [{"fade": 0.0}, {"fade": math.nan}, {"low": (1e3,) * 3}, {"high": (1e308,) * 3}])
def test_tables_that_no_controller_may_have_are_refused(table, changes):
    with pytest.raises(ValueError, match="a table"):
        replace(table, **changes)


def test_gains_outside_the_box_are_refused(table):
    values = table.values.copy()
    values[0, 0, 0] = 1e308
    with pytest.raises(ValueError, match="must lie in its box"):
        replace(table, values=values)


def test_a_changed_file_does_not_match_its_hash(table, tmp_path):
    path = tmp_path / "gains.csv"
    table.save(path)
    lines = path.read_text().splitlines()
    places = lines[-1].split(",")
    between = 0.5 * (float(places[-1]) + table.reference[-1])
    lines[-1] = ",".join([*places[:-1], repr(between)])
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(KnowledgeBaseError, match="does not match its hash"):
        LookupTable.load(path)
