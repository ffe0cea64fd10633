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
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert len(pages) == 3  # plant, result, sweep
    assert "seed=0" in pages[2]
    assert "seed=1" in pages[2]
    told = [ast.literal_eval(data["text/plain"]) for data in shown if data["text/plain"][0] in "{["]
    lost, proofs = told
    assert set(lost) == {"reference", "knowledge_base"}
    assert proofs == {"c": "ok", "st": "ok"}
    assert (own_folder / "run/report.html").is_file()
