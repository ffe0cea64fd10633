"""The end of the page: warnings, how to repeat the run, glossary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element
from experiments.report.numbers import missing
from experiments.report.view import section, table, words_head

if TYPE_CHECKING:
    from experiments.report.view import View

# Our word, the text book's, what it means.
GLOSSARY = (
    ("situation", "scenario", "plant parameters, excitation, reference, initial state, delay and noise of one run"),
    ("taught, validation, unforeseen", "training, validation, test", "for the search; to choose; kept from both"),
    ("knowledge base", "rule-based (fuzzy) gain schedule", "rules that give the PID gains from error and error rate"),
    ("term", "linguistic value, fuzzy set", "a named region of an input, such as small positive, with soft borders"),
    ("firing strength", "degree of activation", "how much a rule applies now, 0 to 1"),
    ("teaching signal", "gain trajectory to learn", "gains that the search found best over time; a network learns it"),
    ("reference gains", "nominal gains", "fixed gains that the schedule returns to where it knows nothing"),
    ("cost J", "objective function", "what the search makes small; defined under the ladder of baselines"),
    ("effort", "∫u² dt, control energy", "integral of the squared command"),
    ("travel", "total variation of u, Σ|Δu|", "the way the actuator goes; wears valves and gears"),
    ("entropy production", "dissipated power, for T0 = 1", "rate at which useful energy is lost"),
    ("ΔṠ", "difference of dissipated powers", "entropy production of the plant less that of the controller"),
    ("Ms", "peak of the sensitivity function", "1/Ms is the shortest distance of the loop's Nyquist curve from −1"),
    ("delay margin", "extra dead time until instability", "phase margin divided by the crossover frequency"),
    ("IAE, ISE, ITAE", "integrals of |e|, e², t|e|", "measures of the control error e = r − y"),
    ("oracle", "tuned per scenario", "best fixed gains found for each situation alone: a bound, not a choice"),
    ("two degrees of freedom", "set-point weighting", "the proportional part sees b r − y: tracking is tuned apart"),
)  # fmt: skip


def warnings(view: View) -> Html:
    """All warnings and notes."""
    if not view.data.warnings:
        return section("warnings", "Warnings", element("p", "None."))
    words = {"warning": ("⚠ Warning: ", "alert"), "note": ("Note: ", "note")}
    items = []
    for warning in view.data.warnings:
        word, style = words[warning.severity]
        remedy = element("i", " ", warning.remedy) if warning.remedy else ""
        items.append(element("li", element("b", word), warning.text, remedy, class_=style))
    return section("warnings", "Warnings", element("ul", *items, class_="warnings"))


def repeat(view: View) -> Html:
    """Command, seed, configuration, versions, files."""
    p = view.data.provenance
    command = element("pre", p.command) if p.command else element("p", missing())
    facts = [("seed", p.seed or missing()), *p.facts]
    lists = element("div", _pairs("Settings", facts), _pairs("Versions", p.versions), class_="pairs")
    files = _pairs("Files beside this report", p.files) if p.files else ""
    config = element("pre", p.config) if p.config else element("p", missing())
    folded = element("details", element("summary", "Resolved configuration"), config)
    lead = "The same command, seed and versions give the same numbers, whatever the number of threads."
    return section("repeat", "How to repeat this run", command, lists, files, folded, lead=lead)


def _pairs(title: str, pairs: object) -> Html:
    rows = [element("tr", element("th", a, scope="row"), element("td", b, class_="words")) for a, b in pairs]  # type: ignore[attr-defined]
    body = element("table", element("tbody", *rows)) if rows else element("p", missing())
    return element("div", element("h3", title), element("div", body, class_="scroll"))


def glossary() -> Html:
    """Our words and the text book's."""
    rows = [
        element("tr", element("th", a, scope="row"), element("td", b, class_="words"), element("td", c, class_="words"))
        for a, b, c in GLOSSARY
    ]
    return section("glossary", "Words", table(("here", words_head("text book"), words_head("meaning")), rows))
