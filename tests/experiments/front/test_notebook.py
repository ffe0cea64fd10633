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
    stored = values(notebook)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(own_folder))
    outputs = outputs_of(notebook)
    assert not any("constrained_layout" in output.get("text", "") for output in outputs)  # a picture that collapsed
    shown = [output["data"] for output in outputs if "data" in output]
    assert sum("image/png" in data for data in shown) == 3
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert len(pages) == 3  # plant, result, sweep
    assert "seed=0" in pages[2]
    assert "seed=1" in pages[2]
    lost, proofs = told = values(notebook)
    assert [one.keys() for one in told] == [one.keys() for one in stored]  # what the page shows
    assert set(lost) == {"reference", "knowledge_base"}
    assert proofs == {"c": "ok", "st": "ok"}
    assert (own_folder / "run/report.html").is_file()


def outputs_of(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def values(notebook):
    """Return the dictionaries that cells end with."""
    texts = [output["data"].get("text/plain", "") for output in outputs_of(notebook) if "data" in output]
    return [ast.literal_eval(text) for text in texts if text.startswith("{")]
