"""The conditions of the verdict for every controller that was judged: what held, what failed, by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element
from experiments.report.numbers import missing, number, share
from experiments.report.view import finite, section, swatch, table, words_head

if TYPE_CHECKING:
    from experiments.report.verdict import Criterion, Judged
    from experiments.report.view import View

SIGNS = {True: ("✓", "held", "gain"), False: ("✗", "failed", "loss"), None: ("?", "not judged", "even")}
"""Sign, word and style of a condition that held, failed, or could not be judged."""


def conditions(view: View) -> Html:
    """One row per controller, one column per condition."""
    lead = (
        f"Every controller against {view.compared.name}, run by run in the same unforeseen situations. One that "
        "replaces it must hold all conditions; of those that do, the simplest within 3 % of the best is recommended. "
        "In brackets: 95 % intervals."
    )
    judged = view.data.verdict.judgements
    if not judged:
        return section(
            "conditions", "Conditions of the verdict", element("p", missing("nothing was judged")), lead=lead
        )
    head = ("Controller", *(c.text for c in judged[0].criteria), "better in", "rank test p", words_head("outcome"))
    rows = [_row(view, one) for one in judged]
    return section("conditions", "Conditions of the verdict", table(head, rows, style="conditions"), lead=lead)


def _row(view: View, judged: Judged) -> Html:
    controller = view.data.controller(judged.controller)
    name = element("th", swatch(view.styles[controller.key]), controller.name, scope="row")
    cells = [_cell(criterion) for criterion in judged.criteria]
    cells.append(
        element("td", share(judged.wins) if finite(judged.wins) else missing(), element("small", "of the runs"))
    )
    cells.append(element("td", number(judged.p_value, 2) if finite(judged.p_value) else "–"))
    outcome = element("td", judged.outcome, class_="words")
    return element("tr", name, *cells, outcome, class_="chosen" if controller is view.recommended else None)


def _cell(criterion: Criterion) -> Html:
    sign, word, style = SIGNS[criterion.passed]
    return element("td", element("span", f"{sign} {word}", class_=style), element("small", criterion.detail))
