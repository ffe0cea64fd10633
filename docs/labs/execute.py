"""Run notebooks and store what they print and draw: `python docs/labs/execute.py [NOTEBOOK ...]`; by default all labs.

The pages of the site and of code hosts show the stored outputs; a test runs the notebooks again and compares.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
LIMIT = 600  # s for one cell, on a busy machine
PREPARED = """
import matplotlib as mpl
from matplotlib_inline.backend_inline import set_matplotlib_formats
set_matplotlib_formats("svg")
mpl.rcParams.update({"svg.hashsalt": "lab", "svg.fonttype": "none", "figure.figsize": (8.0, 3.2), "figure.dpi": 80})
"""  # pictures that are the same each time, and scale


def notebooks() -> list[Path]:
    """Return all labs and their solutions."""
    return sorted(HERE.glob("**/*.ipynb"))


def executed(path: Path) -> Any:
    """Return a notebook with fresh outputs; nothing is written.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        Where a cell fails, with the cell.
    """
    book = nbformat.read(path, as_version=4)
    book.cells.insert(0, nbformat.v4.new_code_cell(PREPARED))
    with TemporaryDirectory() as folder:  # runs and exports are written where a notebook runs
        NotebookClient(book, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    del book.cells[0]
    for cell in book.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]  # it names our files
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                continue
            output.metadata = {}
            if output.output_type == "execute_result":
                output.execution_count = None
            if "image/svg+xml" in output.get("data", {}):
                output.data = {"image/svg+xml": output.data["image/svg+xml"]}
            output.data = {kind: _of_no_folder(text, folder) for kind, text in output.data.items()}
    book.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return book


def _of_no_folder(text: str, folder: str) -> str:
    """An output without the folder that it was made in, which is gone: links into it are text."""
    return re.sub(r'<a href="file:[^"]*">(.*?)</a>', r"\1", text).replace(f"{folder}/", "")


def main(names: list[str]) -> None:
    """Execute notebooks and write them back."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no date of today in the pictures
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    for path in [Path(name) for name in names] or notebooks():
        book = executed(path)
        nbformat.write(book, path)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
