"""The whole page.

One file, complete without a network: style and script are inside, drawings are inline SVG, and a content policy in the
page itself forbids the browser to load anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, asset, element, head_line, whole_page
from experiments.report.sections.closing import exports, glossary, repeat, warnings
from experiments.report.sections.front import front
from experiments.report.sections.ladder import ladder
from experiments.report.sections.learning import searches, structure, teaching_signal
from experiments.report.sections.picture import picture
from experiments.report.sections.responses import entropy, gains_over_time, responses, signals
from experiments.report.sections.robustness import robustness
from experiments.report.sections.rules import knowledge_base
from experiments.report.sections.summary import summary
from experiments.report.sections.tables import all_numbers, conditions, margins_table
from experiments.report.sections.view import PageView

if TYPE_CHECKING:
    from experiments.report.records.report_data import ReportData

_SECTIONS = (
    ("conditions", "conditions", conditions),
    ("ladder", "ladder", ladder),
    ("front", "front", front),
    ("picture", "motion", picture),
    ("responses", "responses", responses),
    ("signals", "signals", signals),
    ("gains", "gains", gains_over_time),
    ("rules", "rules", knowledge_base),
    ("structure", "structure", structure),
    ("teaching", "teaching signal", teaching_signal),
    ("entropy", "entropy", entropy),
    ("margins", "margins", margins_table),
    ("robustness", "map", robustness),
    ("search", "search", searches),
    ("exports", "exports", exports),
    ("numbers", "all numbers", all_numbers),
    ("warnings", "warnings", warnings),
    ("repeat", "repeat", repeat),
    ("glossary", "words", glossary),
)
"""What follows the first screen: anchor, name in the navigation, function of the view."""

_OPTIONAL = ("front", "picture", "signals", "robustness", "exports")


def render(data: ReportData) -> str:
    """The page as text: the same data gives the same text.

    Parameters
    ----------
    data : ReportData
        Everything that is shown.

    Returns
    -------
    str
        A complete HTML document.
    """
    view = PageView(data)
    parts = (summary(view), *(section(view) for _, _, section in _SECTIONS))
    names = ["script.js", *(["picture.js"] if data.picture else [])]
    scripts = [element("script", asset(name)) for name in names]
    hidden = element("style", Html(view.hidden_style()), id="hidden")
    return whole_page(data.title, (_header(data), element("main", *parts), *scripts), hidden)


def _header(data: ReportData) -> Html:
    absent = {anchor for anchor in _OPTIONAL if not getattr(data, anchor)}
    links = [element("a", name, href=f"#{anchor}") for anchor, name, _ in _SECTIONS if anchor not in absent]
    return head_line(data.title, data.plant, element("nav", *links, aria_label="sections"))
