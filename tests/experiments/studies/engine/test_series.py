"""What a page needs beside its designs is computed once, and again where what it depends on has changed."""

from experiments.studies.engine.series import cached, of_design


def test_it_is_computed_once_for_the_same_inputs(tmp_path):
    path, runs = tmp_path / "found.json", []

    def compute(value):
        runs.append(value)
        return {"a": [value]}

    for inputs, value, expected in (([1, "x"], 1.0, 1.0), ([1, "x"], 2.0, 1.0), ([2, "x"], 3.0, 3.0)):
        assert cached(path, inputs, lambda value=value: compute(value)) == {"a": [expected]}
    assert runs == [1.0, 3.0]


def test_a_file_of_before_is_computed_anew(tmp_path):
    path = tmp_path / "found.json"
    path.write_text('{"fixed": 1}', encoding="utf-8")
    assert cached(path, [], lambda: 2.0) == 2.0


def test_a_design_is_known_by_what_it_found(tmp_path):
    for name in ("config.json", "metrics.json", "knowledge_base.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    before = of_design(tmp_path)
    (tmp_path / "metrics.json").write_text('{"a": 1}', encoding="utf-8")
    assert [a == b for a, b in zip(before, of_design(tmp_path), strict=True)] == [True, False, True]
