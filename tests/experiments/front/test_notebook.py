"""The session in docs/examples/session.ipynb, run as Jupyter runs it: a design, pictures, a map, exports, a sweep."""

import ast
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[3]


def test_a_session_designs_draws_exports_and_sweeps(own_folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(ROOT / "docs/examples/session.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(own_folder))
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not any("constrained_layout" in output.get("text", "") for output in outputs)  # a picture that collapsed
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum("image/png" in data for data in shown) == 3
    assert sum("text/html" in data for data in shown) == 2  # plant and result
    told = [ast.literal_eval(data["text/plain"]) for data in shown if data["text/plain"][0] in "{["]
    lost, proofs, rows = told
    assert set(lost) == {"reference", "knowledge_base"}
    assert proofs == {"c": "ok", "st": "ok"}
    assert [row["settings"] for row in rows] == ["seed=0", "seed=1"]
    assert (own_folder / "run/report.html").is_file()
