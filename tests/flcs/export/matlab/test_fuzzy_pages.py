"""The worked examples of the pages on fuzzy files, MATLAB, ONNX and tables are run as they stand."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from flcs.export import scheduler as scheduler_module
from flcs.export.matlab import octave
from flcs.export.targets import TARGETS
from tests.reference.exports import job_of, knowledge_base

PAGES = Path(__file__).parents[4] / "docs/reference/exports"
NEEDS = {"skfuzzy": ("skfuzzy",), "onnx": ("onnx", "onnxruntime")}


@pytest.fixture(autouse=True)
def job(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler_module, "RANDOM", 300)
    monkeypatch.chdir(tmp_path)
    kb = knowledge_base()
    kb.save("knowledge_base.json")
    return job_of(kb, ({"reference": 1.0, "t_end": 0.5},))


def put(job, target):
    for name, content in TARGETS[target].files(job).items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")  # in scikit-fuzzy itself
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("page", ["scheduler", "fis", "fcl", "skfuzzy", "onnx", "tables"])
def test_the_pages_example_runs(job, page):
    for package in NEEDS.get(page, ()):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if page in {"onnx", "tables"}:
        put(job, page)
    (code,) = re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL)
    exec(compile(code, f"{page}.md", "exec"), {})


@pytest.mark.skipif(octave.program() is None, reason="octave is not installed")
def test_the_matlab_pages_example_runs(job, tmp_path):
    put(job, "matlab")
    (code,) = re.findall(r"```octave\n(.*?)```", (PAGES / "matlab.md").read_text(), re.DOTALL)
    found = octave.run(octave.program(), tmp_path, f"{code}\nfound = g;", {"any": np.zeros((1, 1))}, 3)["any"]
    np.testing.assert_allclose(found[0], job.kb.gains([[0.0, 0.0]])[0], atol=0.1)  # within the tables' 1 % of the box


def test_every_target_has_its_row_and_page():
    index = (PAGES / "README.md").read_text()
    for name in ("matlab", "fis", "fcl", "skfuzzy", "onnx", "tables"):
        assert f"[`{name}`]({name}.md)" in index
