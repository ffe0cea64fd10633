"""What a design came to, read from its folder when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.cases.kb_case import KB_FILES, RECOMMENDED
from experiments.report import files
from experiments.report.answer import answer
from experiments.report.drawing.html import element
from experiments.runtime import formats
from flcs import KnowledgeBase
from plants.core.motion.plots import pyplot

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.report.records.report_data import ReportData
    from experiments.report.records.results import ControllerResult
    from experiments.report.records.verdict import VerdictText


class DesignResult:
    """A finished design.

    Attributes
    ----------
    folder : Path
        The run folder, with every file that the command writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def report(self) -> Path:
        """The report, a page that opens in any browser."""
        return self.folder / "report.html"

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """All numbers of the verdict, as in ``metrics.json``."""
        return dict(formats.read_json(self.folder / "metrics.json"))

    @cached_property
    def data(self) -> ReportData:
        """All that the report says, as records."""
        return files.load(self.folder)

    @property
    def verdict(self) -> VerdictText:
        """The recommendation with its reasons, conditions and changes by measure."""
        return self.data.verdict

    @property
    def recommended(self) -> str:
        """Key of the recommended controller: "fixed", "knowledge_base", ..."""
        return str(self.metrics["recommended"])

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        return str(self.metrics["sentence"])

    @property
    def controllers(self) -> dict[str, ControllerResult]:
        """All controllers that were judged, simplest first, by their keys."""
        return {one.key: one for one in self.data.controllers}

    @property
    def knowledge_base(self) -> KnowledgeBase:
        """The recommended knowledge base; where none is recommended, the refined one."""
        return self.knowledge_bases[self._leaving]

    @property
    def knowledge_base_file(self) -> Path:
        """Its file."""
        return self.folder / KB_FILES[self._leaving]

    @property
    def recommended_file(self) -> Path | None:
        """File of a knowledge base with the recommended gains, also of a PID or a table; None where none is equal."""
        file = self.folder / RECOMMENDED
        return file if file.is_file() else None

    @property
    def _leaving(self) -> str:
        return self.recommended if self.recommended in self.knowledge_bases else "knowledge_base"

    @cached_property
    def knowledge_bases(self) -> dict[str, KnowledgeBase]:
        """All knowledge bases of the design by their controllers' keys."""
        found = {key: self.folder / name for key, name in KB_FILES.items()}
        return {key: KnowledgeBase.load(path) for key, path in found.items() if path.is_file()}

    def what_to_type(self) -> str:
        """Return what the terminal prints: gains and tables to type in, and what they change."""
        return "\n".join(answer(self.data, self.knowledge_base))

    def plot(self, axes: Any = None) -> Any:
        """Draw how J of every controller changes against the fixed PID, with 95 % intervals; return the axes.

        Simplest first, without the open loop; hollow is the oracle, which knows each situation and cannot be built.
        """
        order = [key for key in self.controllers if key != "open_loop"]  # which nothing would be seen beside
        found = {key: self.metrics["comparisons"][key] for key in order if key in self.metrics["comparisons"]}
        names = [self.metrics["controllers"][key]["title"] for key in found]
        means = np.array([[one["mean"][end] for end in ("value", "low", "high")] for one in found.values()], float)
        axes = (
            pyplot().subplots(figsize=(7.0, 0.6 + 0.4 * len(names)), layout="constrained")[1] if axes is None else axes
        )
        value, low, high = 100.0 * means.T
        drawn = axes.errorbar(value, names, xerr=np.abs([value - low, high - value]), fmt="none", capsize=3)
        (line,) = drawn.lines[2]
        real = np.array([key != "oracle" for key in found])
        axes.plot(value[real], np.array(names)[real], "o", color=line.get_color()[0])
        axes.plot(value[~real], np.array(names)[~real], "o", color=line.get_color()[0], markerfacecolor="none")
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.invert_yaxis()  # simplest first, as in the report
        axes.set_xlabel("change of J against the fixed PID [%]; left is better")
        axes.grid(visible=True, axis="x", alpha=0.3)
        return axes

    def __repr__(self) -> str:
        """As in ``<DesignResult runs/first: knowledge_base_direct recommended>``."""
        return f"<DesignResult {self.folder}: {self.recommended} recommended>"

    def __str__(self) -> str:
        """The verdict, what to type, and where the report is, as the terminal has it."""
        return f"{self.sentence}\n\n{self.what_to_type().strip()}\n\nreport: {self.report}"

    def _repr_html_(self) -> str:
        """The verdict, what to type, and the way to the report, for notebooks."""
        link = element("a", "report", href=self.report.resolve().as_uri())
        return str(element("div", element("p", element("b", self.sentence)), element("pre", self.what_to_type()), link))
