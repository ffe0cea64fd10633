"""The worked examples of the pages on adapters run as they stand there."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "reference" / "adapters").glob("*.md"))
NEEDS = {
    "gymnasium": "gymnasium",
    "python_control": "control",
    "casadi": "casadi",
    "sympy": "sympy",
    "mujoco": "mujoco",
    "fmu": "fmpy",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "README"], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, monkeypatch, capsys):
    needed = NEEDS.get(page.stem)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed (extra: adapters)")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    space = {"__name__": page.stem}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page.name}, example {number + 1}", "exec"), space)


def test_every_page_stands_in_the_table():
    table = (ROOT / "docs" / "reference" / "adapters" / "README.md").read_text()
    for page in PAGES:
        assert page.stem == "README" or f"({page.name})" in table
