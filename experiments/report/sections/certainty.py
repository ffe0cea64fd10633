"""Cards of the first screen on the plant, on how sure the verdict is, and on what nobody tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.answer import UNFINISHED
from experiments.report.drawing.html import Html, element
from experiments.report.drawing.numbers import missing
from experiments.report.sections.cards import card

if TYPE_CHECKING:
    from experiments.report.sections.view import PageView

_OLDER = "not stored by the release that made this run; `sscq design resume=` of the run writes it"


def plant_card(view: PageView) -> Html:
    """Which plant, how it is controlled, within which ranges and how often; its equations fold."""
    about = view.data.about
    if about is None:
        return card("Plant", element("p", view.data.plant), element("p", missing(_OLDER)))
    first = [(what, value) for what, value in about.facts if what in {"controls", "sample time"}]
    lines = [element("p", element("b", what, ": "), value) for what, value in first]
    rest = [element("p", element("b", what, ": "), value) for what, value in about.facts if (what, value) not in first]
    inside = [*rest, element("pre", about.equations) if about.equations else ""]
    words = "States, parameters, equations" if about.equations else "States and parameters"
    drawn = _ranges(view.data.evidence.ranges) if view.data.evidence else ""
    more = element("details", element("summary", words), *inside)
    return card("Plant", element("p", view.data.plant), *lines, drawn, more)


def certainty_card(view: PageView) -> Html:
    """How sure, and what that covers."""
    evidence = view.data.evidence
    if evidence is None:
        return card("How sure, and of what", element("p", missing(_OLDER)))
    late = element("p", f"{UNFINISHED}: {evidence.unfinished}.")
    return card(
        "How sure, and of what",
        element("p", evidence.covers),
        late if evidence.unfinished else "",
        _details(evidence.details),
    )


def _ranges(text: str) -> Html:
    """All ranges, folded under their number; the headline leads here."""
    if not text:
        return Html("")
    title = element("summary", f"The {len(text.split('; '))} declared ranges that situations are drawn from")
    return element("details", title, element("span", text, ".", id="ranges"))


def _details(found: tuple[tuple[str, str], ...]) -> Html:
    """Worst cases as situations and certificates in full, folded."""
    if not found:
        return Html("")
    lines = [element("p", element("b", what, ": "), text) for what, text in found]
    return element("details", element("summary", "The worst cases and the certificates in full"), *lines)


def untested_card(view: PageView) -> Html:
    """What no judged situation had, and which proofs were not asked for."""
    evidence = view.data.evidence
    if evidence is None:
        return card("Not tested", element("p", missing(_OLDER)))
    return card("Not tested", element("p", "; ".join(evidence.untested) or "nothing of what is usually asked", "."))
