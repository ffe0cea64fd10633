from benchmarks.runner import same_results


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_changed_is_named_and_what_may_differ_is_left_out(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, commit, number, kernel in ((before, "a" * 40, "1", "x"), (after, "b" * 40, "2", "y")):
        written(folder, "design/report.html", f"commit {commit}")
        written(folder, "design/times.json", number)
        written(folder, "design/metrics.json", number)
        written(folder, "design/same.json", "0")
        written(folder, f"kernels/kernel_{number}.py", "same text")
        written(folder, f"kernels/kernel_{kernel}.py", kernel)
    written(before, "design/gone.json", "")
    lines = same_results.differences(same_results.hashes(before), same_results.hashes(after))
    assert [line.split()[:2] for line in lines] == [
        ["differs", "design/metrics.json"],
        ["new", "kernel"],
        ["missing", "design/gone.json"],
        ["missing", "kernel"],
    ]
    assert same_results.differences(same_results.hashes(before), same_results.hashes(before)) == []


def test_only_the_judged_plants_knowledge_base_is_taken_further():
    assert [words[0] for words in same_results.commands(["fopdt"])] == ["design"]
    assert [words[0] for words in same_results.commands(["van_der_pol"])] == [
        "design",
        "evaluate",
        "worst",
        "export",
        "export",
    ]
