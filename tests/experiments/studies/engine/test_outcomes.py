"""What contenders did in drawn situations is kept as arrays and read back the same."""

from types import SimpleNamespace

import numpy as np

from experiments.studies.engine import outcomes


def test_arrays_give_back_what_each_contender_did():
    did = {"stood": np.array([True, False, True]), "iae": np.array([1.0, 2.0, 3.0])}
    other = {"stood": np.array([False, True, True]), "iae": np.array([4.0, 5.0, 6.0])}
    known = {
        "a": SimpleNamespace(title="first", outcome=lambda situations, measures: did),
        "b": SimpleNamespace(title="second", outcome=lambda situations, measures: other),
    }
    arrays = outcomes.arrays_of(known, [None] * 3, ("iae",))
    assert set(arrays) == {"a.stood", "a.iae", "b.stood", "b.iae"}
    found = outcomes.Outcomes("d", **outcomes.read(known, arrays, ("iae",)))
    assert found.titles == {"a": "first", "b": "second"}
    assert found.stood["b"].dtype == bool
    np.testing.assert_array_equal(found.stood["a"], did["stood"])
    np.testing.assert_array_equal(found.quality["b"]["iae"], other["iae"])
