"""The table after a sweep: a row a run, with what differs between them, and the same numbers in a file."""

import csv

from experiments.report.sweep_summary import FILE, summarise
from experiments.runtime import formats
from experiments.runtime.run_folder import RunFolder


def controller(title, fitness, failures=0):
    found = {"iae": 2.0 * fitness, "total_variation": 70.0}
    return {"title": title, "fitness": {"unforeseen": fitness}, "measures": {"unforeseen": found},
            "failures": {"unforeseen": failures}}  # fmt: skip


def test_each_run_has_a_row_with_what_is_recommended(tmp_path, capsys):
    for seed, best, fitness in ((0, "equal", 0.75), (1, "fixed", 1.0)):
        words = [f"seed={seed}", "budget=small"]
        folder = RunFolder.create(tmp_path / str(seed), command="design", config={"seed": seed}, overrides=words)
        metrics = {"recommended": best, "controllers": {
            "fixed": controller("fixed PID", 1.0), "equal": controller("knowledge base", fitness, failures=seed)}}  # fmt: skip
        formats.write_json(folder.path / "metrics.json", metrics)
        folder.close()
    summarise([tmp_path / "0", tmp_path / "1"])
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[2].split() == ["0", "seed=0", "knowledge", "base", "0.75", "1", "-25.0", "%", "1.5", "70", "0"]
    assert lines[3].split() == ["1", "seed=1", "fixed", "PID", "1", "1", "+0.0", "%", "2", "70", "0"]
    with (tmp_path / FILE).open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["recommended"], float(row["fitness"])) for row in rows] == [
        ("knowledge base", 0.75),
        ("fixed PID", 1.0),
    ]
