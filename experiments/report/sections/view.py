"""What all sections share: the colour of each controller, its names, sums over situations, legends, section frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.answer import headed
from experiments.report.drawing.html import Html, element
from experiments.report.records.gains import NAN
from experiments.report.records.results import ControllerResult, Estimate, Group, SituationResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from experiments.report.records.report_data import ReportData
    from experiments.report.records.verdict import VerdictComparison

COLOURS = 8  # classes k0 ... k7 of the style sheet; further controllers repeat them with broken lines
GROUP_NAMES: dict[Group, str] = {
    "taught": "Taught situations (training scenarios)",
    "validation": "Validation situations",
    "unforeseen": "Unforeseen situations (test scenarios)",
    "drawn": "Fresh situations drawn from the declared ranges",
}

JUDGED_NAMES: dict[Group, str] = {
    "taught": "taught situations (training scenarios)",
    "validation": "validation situations",
    "unforeseen": "unforeseen situations (test scenarios)",
    "drawn": "fresh situations drawn from the declared ranges",
}


@dataclass(frozen=True, eq=False)
class PageView:
    """The report's data with what the page derives from it."""

    data: ReportData

    @cached_property
    def recommended(self) -> ControllerResult:
        """The controller of the verdict."""
        return self.data.controller(self.data.verdict.recommended)

    @cached_property
    def compared(self) -> ControllerResult:
        """The controller that changes, losses and gains are counted against."""
        return self.data.controller(self.data.verdict.compared_with)

    @cached_property
    def subject(self) -> ControllerResult:
        """The controller that the headline number is about: the recommended one, or the one that was turned down."""
        verdict = self.data.verdict
        same = verdict.recommended == verdict.compared_with
        return self.data.controller(verdict.judged) if same and verdict.judged else self.recommended

    @property
    def judged_words(self) -> str:
        """The situations on which the verdict rests, in words."""
        return JUDGED_NAMES[self.data.verdict.group]

    @cached_property
    def styles(self) -> dict[str, str]:
        """CSS classes of each key: first the recommended controller, then the compared, judged and present one."""
        verdict = self.data.verdict
        first = [verdict.recommended, verdict.compared_with, verdict.judged, verdict.present]
        keys = list(dict.fromkeys([k for k in first if k] + [c.key for c in self.data.controllers]))
        styles = {key: f"k{i % COLOURS}" + (" broken" if i >= COLOURS else "") for i, key in enumerate(keys)}
        styles[verdict.recommended] += " strong"
        return styles

    def colour(self, key: str) -> str:
        """The class of the colour alone."""
        return self.styles[key].split(maxsplit=1)[0]

    @cached_property
    def drawn(self) -> tuple[ControllerResult, ...]:
        """Controllers in the order of drawing: the recommended one last, on top."""
        order = sorted(self.data.controllers, key=lambda c: (c is self.recommended, c is self.compared))
        return tuple(order)

    def comparison(self, controller: str, against: str, group: Group | None = None) -> VerdictComparison | None:
        """The comparison of two controllers, at equal travel where there is one, turned round if need be.

        Left out, the group is that in which the verdict judges; an oracle is judged in the unforeseen situations alone.
        """
        if group is None:
            judged = self.comparison(controller, against, self.data.verdict.group)
            return self.comparison(controller, against, "unforeseen") if judged is None else judged
        direct = self._comparison(controller, against, group)
        if direct is not None:
            return direct
        reverse = self._comparison(against, controller, group)
        return None if reverse is None else reverse.turned()

    def _comparison(self, controller: str, against: str, group: Group) -> VerdictComparison | None:
        found = [
            c
            for c in self.data.verdict.comparisons
            if (c.controller, c.against, c.group) == (controller, against, group) and finite(c.change.value)
        ]
        return max(found, key=lambda c: c.equal_travel, default=None)

    def change_in(
        self, situation: str, controller: ControllerResult, rival: ControllerResult, measure: str = "cost"
    ) -> Estimate:
        """The change of the cost or of a measure of a controller against another in one situation.

        With its interval where one is known.
        """
        own, other = controller.result(situation), rival.result(situation)
        if measure != "cost":
            if rival is self.compared and measure in own.changes:
                return own.changes[measure]
            if controller is self.compared and measure in other.changes:
                return other.changes[measure].turned()
            lost = own.failed or other.failed  # a run cut short has small integrals
            return Estimate(NAN if lost else change(own.measure(measure), other.measure(measure)))
        if rival is self.compared and own.change is not None:
            return own.change
        if controller is self.compared and other.change is not None:
            return other.change.turned()
        return Estimate(change(own.cost.value, other.cost.value))

    def gain_unit(self, name: str) -> str:
        """The unit of a gain by its name: "kp", or with several channels "kp_1", "kp_2", ..."""
        base, _, number = name.rpartition("_")
        base, number = (base, number) if number.isdigit() else (name, "1")
        given = [dict(zip(("kp", "ki", "kd"), c.gain_units, strict=False)) for c in self.data.channels]
        return given[int(number) - 1].get(base, "") if int(number) <= len(given) else ""

    def results(self, controller: ControllerResult, group: Group) -> list[SituationResult]:
        """Its results in one group, in the order of the situations."""
        return [controller.result(s.name) for s in self.data.group(group)]

    @property
    def on_draws(self) -> bool:
        """Whether the verdict rests on situations that were drawn: the named ones then fold away."""
        return self.data.verdict.group == "drawn"

    @property
    def named_note(self) -> str:
        """What to say where the named situations are shown, and others decide; else nothing."""
        return " These are the named situations; the verdict rests on fresh ones." if self.on_draws else ""

    def with_unit(self, name: str, measure: str) -> str:
        """A heading with the unit of a measure."""
        return headed(name, self.data.units.get(measure, "").replace(" ", "\u00a0"))

    def mean_measure(self, controller: ControllerResult, group: Group, name: str) -> float:
        """Mean of a measure over the runs of a group that survive; NaN where there is none."""
        if group == self.data.verdict.group and controller.judged is not None:
            return controller.judged.measures.get(name, NAN)
        return mean([result.measure(name) for result in self.results(controller, group)])

    def row_head(self, controller: ControllerResult, *more: object) -> Html:
        """The head of a controller's row: its colour and its name."""
        return element("th", swatch(self.styles[controller.key]), controller.name, *more, scope="row")

    def legend(self, controllers: Iterable[ControllerResult] | None = None, note: str = "") -> Html:
        """Colour key of a section; the page's script makes its entries switches."""
        chosen = list(self.data.controllers if controllers is None else controllers)
        chips = [
            element(
                "button",
                swatch(self.styles[c.key]),
                c.name,
                class_="chip" if c.drawn else "chip off",
                type="button",
                data_k=self.slot(c.key),
            )
            for c in sorted(chosen, key=lambda c: (c is not self.recommended, c is not self.compared))
        ]
        return element("div", *chips, element("span", note, class_="key") if note else "", class_="legend")

    def slot(self, key: str) -> str:
        """Class that marks all curves of one controller, unlike the colour never shared."""
        return f"c{[c.key for c in self.data.controllers].index(key)}"

    def hidden_style(self) -> str:
        """Style rules for the controllers whose curves start hidden; the page's script rewrites them."""
        return "".join(f"svg .{self.slot(c.key)}{{display:none}}" for c in self.data.controllers if not c.drawn)

    def curve_style(self, key: str) -> str:
        """All classes of a curve of this controller."""
        return f"{self.styles[key]} {self.slot(key)}"


def finite(value: float) -> bool:
    """Whether there is a number at all."""
    return value is not None and math.isfinite(value)


def mean(values: list[float]) -> float:
    """Plain mean, NaN for none."""
    return float(np.mean(values)) if values else NAN


def change(value: float, reference: float) -> float:
    """Relative change, NaN where it has no meaning."""
    if not (finite(value) and finite(reference)) or reference <= 0.0:
        return NAN
    return value / reference - 1.0


def swatch(style: str, length: int = 22, hidden: str | None = "true") -> Html:
    """A short line in the style of a curve, `hidden` from screen readers where a name that they read stands beside."""
    line = element("path", d=f"M1 6h{length}", class_=f"curve {style}")
    return element("svg", line, viewBox=f"0 0 {length + 2} 12", class_="swatch", aria_hidden=hidden)


def section(anchor: str, title: str, *content: object, lead: object = "", folded: bool = True) -> Html:
    """One part of the page under its heading, which folds and unfolds it."""
    intro = element("p", lead, class_="lead") if lead else ""
    heading = element("summary", element("h2", title))
    return element("section", element("details", heading, intro, *content, open=not folded), id=anchor)


def words_head(name: str) -> Html:
    """Heading of a column of words, which starts at the left as they do."""
    return element("th", name, scope="col", class_="words")


def multiples(figures: Iterable[Html]) -> Html:
    """Figures side by side, three in a row, so many that a row is full where the number allows it."""
    found = list(figures)
    columns = {1: " one", 2: " two", 4: " four", 8: " four"}.get(len(found), "")
    return element("div", *found, class_=f"multiples{columns}")


def table(head: Iterable[object], rows: Iterable[Html], caption: str = "", style: str = "") -> Html:
    """A table that scrolls sideways inside its own box."""
    cells = [h if isinstance(h, Html) and h.startswith("<th") else element("th", h, scope="col") for h in head]
    whole = element(
        "table",
        element("caption", caption) if caption else "",
        element("thead", element("tr", *cells)),
        element("tbody", *rows),
        class_=style or None,
    )
    return element("div", whole, class_="scroll", tabindex="0")
