"""The end of the page: exports and who checked them, warnings, how to repeat the run, glossary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element
from experiments.report.drawing.numbers import missing, number
from experiments.report.living.page import TARGETS
from experiments.report.sections.view import PageView, section, table, words_head

if TYPE_CHECKING:
    from flcs.export.proof import Proof


_HEAD = ("Target", "Proof", "Largest error", "Allowed", "Samples", "ROM")


def exports(view: PageView) -> Html | str:
    """A row for each export; nothing where none was asked for."""
    if not view.data.exports:
        return ""
    lead = (
        "Each file was run by an independent program on the signals of all situations, on random and on edge inputs. "
        "Errors are shares of a signal's range. Hashes and every signal's error: exports/manifest.json."
    )
    rows = [_row(one) for one in view.data.exports]
    return section("exports", "Exports", table((*_HEAD, words_head("checked by")), rows), lead=lead)


def _row(one: Proof) -> Html:
    page, rom = one.numbers.get("page", ""), one.numbers.get("rom_bytes")
    opened = element("a", one.target, href=f"exports/{page}") if page else one.target
    name = element("th", opened, element("small", TARGETS[one.target].title), scope="row")
    signal = max(one.errors, key=lambda name: one.errors[name]) if one.errors else ""
    status = one.status if one.status == "ok" else element("span", f"▲ {one.status}", class_="loss")
    known = one.largest == one.largest
    error = element("td", number(one.largest, 2), element("small", signal)) if known else element("td", missing())
    cells = [
        element("td", status), error, element("td", number(one.bound, 2)), element("td", str(one.samples)),
        element("td", missing() if rom is None else f"{int(rom)} bytes"),
    ]  # fmt: skip
    return element("tr", name, *cells, element("td", one.reason or one.checker, class_="words"))


# Our word, the text book's, what it means.
GLOSSARY = (
    ("situation", "scenario", "plant parameters, excitation, reference, initial state, delay and noise of one run"),
    ("taught, validation, unforeseen", "training, validation, test", "for the search; to choose; kept from both"),
    ("knowledge base", "rule-based (fuzzy) gain schedule", "rules that give the PID gains from what is measured"),
    ("no imitation, direct", "direct policy search", "a knowledge base whose rules a search found, without a network"),
    ("loop lost, diverged", "instability, fall", "a state left the plant's range or all numbers: cut there"),
    ("term", "linguistic value, fuzzy set", "a named region of an input, such as small positive, with soft borders"),
    ("firing strength", "degree of activation", "how much a rule applies now, 0 to 1"),
    ("teaching signal", "gain trajectory to learn", "gains that the search found best over time; a network learns it"),
    ("reference gains", "nominal gains", "fixed gains that the schedule returns to where it knows nothing"),
    ("cost J", "objective function", "what the search makes small; its formula stands under the recommendation"),
    ("effort", "∫u² dt, control energy", "integral of the squared command"),
    (
        "with the fixed gains' damping",
        "same kd in the entropy",
        "J counted with the kd of the fixed gains: less kd alone lowers ΔṠ and does nothing for the plant",
    ),
    ("travel", "total variation of u, Σ|Δu|", "the way the actuator goes; wears valves and gears"),
    ("entropy production", "dissipated power, for T0 = 1", "rate at which useful energy is lost"),
    ("ΔṠ", "difference of dissipated powers", "entropy production of the plant less that of the controller"),
    ("Ms", "peak of the sensitivity function", "1/Ms is the shortest distance of the loop's Nyquist curve from −1"),
    ("delay margin", "extra dead time until instability", "phase margin divided by the crossover frequency"),
    ("IAE, ISE, ITAE", "integrals of |e|, e², t|e|", "measures of the control error e = r − y"),
    ("oracle", "tuned per scenario", "what a short search found for each situation alone, which nobody can know"),
    ("two degrees of freedom", "set-point weighting", "the proportional part sees b r − y: tracking is tuned apart"),
)  # fmt: skip


def warnings(view: PageView) -> Html:
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


def repeat(view: PageView) -> Html:
    """Command, seed, configuration, versions, files."""
    p = view.data.provenance
    facts = [("seed", p.seed), *view.data.facts]
    lists = element("div", _pairs("Settings", facts), _pairs("Versions", p.versions), class_="pairs")
    files = _pairs("Files beside this report", p.files)
    folded = element("details", element("summary", "Resolved configuration"), element("pre", p.config))
    lead = "The same command, seed and versions give the same numbers, whatever the number of threads."
    return section("repeat", "How to repeat this run", element("pre", p.command), lists, files, folded, lead=lead)


def _pairs(title: str, pairs: object) -> Html:
    rows = [element("tr", element("th", a, scope="row"), element("td", b, class_="words")) for a, b in pairs]  # type: ignore[attr-defined]
    body = element("table", element("tbody", *rows))
    return element("div", element("h3", title), element("div", body, class_="scroll"))


def glossary(_: PageView) -> Html:
    """Our words and the text book's."""
    rows = [
        element("tr", element("th", a, scope="row"), element("td", b, class_="words"), element("td", c, class_="words"))
        for a, b, c in GLOSSARY
    ]
    return section("glossary", "Words", table(("here", words_head("text book"), words_head("meaning")), rows))
