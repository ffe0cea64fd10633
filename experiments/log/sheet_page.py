"""The commissioning sheet, one page to print: verdict, what to type, how to go there, what to expect, when to stop."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.log.sheet import STEPS, VARIABLES, CommissioningCase, ProposedChange, tests_of
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, element, join
from sscq.identification.advice import JUDGED, some, told
from sscq.identification.promise import LoopsAtRest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers.forms import Gains
    from experiments.log.schedule import ScheduleFinding

_AUTHORITY = np.linspace(0.0, 1.0, 21)
_TOLD = (0, 5, 10, 20)  # rows of the table, of these
_RARE = 0.01  # share of the plants below which a structure is not told of
_WORD = {
    "advised": "Use these gains",
    "keep": "Keep the present gains",
    "sharp": "The present gains are too sharp",
    "refused": "The log cannot tell",
}
_PRINT = """
body { max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }
table.sheet { border-collapse: collapse; margin: .4rem 0; }
table.sheet th, table.sheet td { min-width: 0; border: 1px solid currentColor; padding: .2rem .6rem; }
table.sheet th, table.sheet td { text-align: right; }
table.sheet th:first-child, table.sheet td:first-child { text-align: left; }
.advice { border: 2px solid currentColor; padding: .4rem .8rem; }
.advice p { margin: .3rem 0 0; }
.advice strong { font-size: 1.2em; }
.expected { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.expected svg { width: 100%; height: auto; }
@page { size: A4 portrait; margin: 12mm; }
@media print {
  body { font-size: 9pt; margin: 0; padding: 0; max-width: none; }
  h1 { font-size: 13pt; margin: 0 0 .3rem; }
  h2 { font-size: 10.5pt; margin: .4rem 0 .1rem; }
  p { margin: .2rem 0; }
  table.sheet th, table.sheet td { padding: .05rem .5rem; }
}
"""


def page(case: CommissioningCase) -> Html:
    """Return the sheet."""
    title = f"Commissioning sheet: {case.log.name}"
    style = resources.files("experiments.report.drawing").joinpath("style.css").read_text(encoding="utf-8")
    parts = [element("h1", title), _verdict(case)]
    if case.change is not None:
        parts.append(_typed(case, case.change))
        if case.advice.to_be_typed:
            parts += [_authority(case.change), _expected(case.change), _stop(case.change)]
    if case.schedule is not None:
        parts.append(_schedule(case.schedule))
    parts += [_findings(case), _rests_on(case)]
    head = join((element("meta", charset="utf-8"), element("title", title), element("style", Html(style + _PRINT))))
    body = element("html", element("head", head), element("body", *parts), lang="en")
    return join((Html("<!doctype html>\n"), body, Html("\n")))


def _verdict(case: CommissioningCase) -> Html:
    reason = case.advice.reason
    promised = case.advice.promise
    parts = [element("strong", _WORD[case.advice.status])]
    if case.advice.status != "advised":
        parts.append(element("p", f"{reason[:1].upper()}{reason[1:]}."))
    if promised is not None:
        what = "proposed gains" if case.advice.to_be_typed else "best gains that were found"
        text = (
            f"Integral of the absolute error in the scenario, {what}: {told(promised)} that explain the log. The "
            f"output travels {promised.travel:.2f} times as far."
        )
        parts.append(element("p", text))
    return element("div", *parts, class_="advice")


def _typed(case: CommissioningCase, change: ProposedChange) -> Html:
    low, high = case.known.output_limits
    advised = case.advice.to_be_typed
    values: list[tuple[str, Any]] = [
        ("kp [u/y]", lambda g: g.kp),
        ("ki [u/(y s)]", lambda g: g.ki),
        ("kd [u s/y]", lambda g: g.kd),
        ("K", lambda g: g.to_standard().gain),
        ("Ti [s]", lambda g: g.to_standard().integral_time),
        ("Ti [min]", lambda g: g.to_standard().integral_time / 60.0),
        ("repeats per minute", lambda g: 60.0 / g.to_standard().integral_time),
        ("Td [s], without a filter", lambda g: g.to_standard().derivative_time),
    ]
    if case.known.measured_span is not None:
        ratio = (case.known.measured_span[1] - case.known.measured_span[0]) / (high - low)
        values += [
            ("K in per cent of span", lambda g: g.to_standard().gain * ratio),
            ("proportional band [%]", lambda g: 100.0 / (abs(g.to_standard().gain) * ratio)),
        ]
    if change.proposed.kd != 0.0 or change.present.kd != 0.0:
        values += [
            ("series K'", lambda g: g.to_series().gain),
            ("series Ti' [s]", lambda g: g.to_series().integral_time),
            ("series Td' [s]", lambda g: g.to_series().derivative_time),
        ]
    both = (change.present, change.proposed)
    rows = [
        ("", "present", "proposed" if advised else "turned down"),
        *((label, *(_cell(value, g) for g in both)) for label, value in values),
    ]
    sense = "direct: more output raises the measured value (ISA calls such a controller reverse acting)"
    if case.found.sense < 0.0:
        sense = (
            "reverse: more output lowers the measured value; a block with an action switch is direct acting and has "
        )
        sense += "the magnitudes of these gains"
    span = "Give measured_span in loop.json for gains in per cent of span."
    if case.known.measured_span is not None:
        span = "Measured span {:.4g} to {:.4g}.".format(*case.known.measured_span)
    note = (
        f"Plant: {sense}. Derivative on the measured value. Sample time {case.log.step:g} s. Output limits {low:g} to "
        f"{high:g}. Set-point weight 1. {span}"
    )
    title = "What to type" if advised else "What was compared"
    return join((element("h2", title), _table(rows), element("p", note)))


def _cell(value: Any, gains: Gains) -> str:
    try:
        return f"{value(gains):.4g}"
    except (ValueError, ZeroDivisionError):
        return "no such form"


def _schedule(finding: ScheduleFinding) -> Html:
    """Break points of the measured value with their gains, or why there are none."""
    reason = f"{finding.reason[:1].upper()}{finding.reason[1:]}."
    parts = [element("h2", "Schedule"), element("p", reason)]
    if finding.advised and finding.places is not None and finding.gains is not None:
        columns = np.column_stack([finding.places, finding.gains]).T
        names = (VARIABLES[finding.variable], "kp [u/y]", "ki [u/(y s)]", "kd [u s/y]")
        rows = [(name, *(f"{value:.4g}" for value in row)) for name, row in zip(names, columns, strict=True)]
        text = (
            "Between the points gains are interpolated, beyond them they stay. The block must sum ki times the error: "
            "one that sums the error and multiplies by ki afterwards jumps whenever the gain moves. The fixed gains "
            "above are what to go back to."
        )
        parts += [_table(rows), element("p", text)]
    return join(parts)


def _authority(change: ProposedChange) -> Html:
    """Margins on the way from the present to the proposed gains: a line between stable gains need not be stable."""
    present, proposed = (np.abs(np.array(gains.vector)) for gains in (change.present, change.proposed))
    gains = present + _AUTHORITY[:, None] * (proposed - present)
    members = some(change.ensemble.spread(change.discrepancy), JUDGED)
    most = 2.0 * np.maximum(present, proposed)
    found = LoopsAtRest(members, change.law, 0.0 * proposed, most, change.ensemble.reach).margins(gains)
    worst = found.sensitivity.max(axis=1)
    usual = np.quantile(found.sensitivity, 0.95, axis=1, method="inverted_cdf")
    rows = [("authority", "kp", "ki", "kd", "Ms, 95 %", f"Ms, all {sum(map(len, members))}")]
    for k in _TOLD:
        kp, ki, kd = (f"{value:.4g}" for value in change.ensemble.sense * gains[k] + 0.0)
        rows.append((f"{_AUTHORITY[k]:g}", kp, ki, kd, f"{usual[k]:.2f}", f"{worst[k]:.2f}"))
    between = "Nothing on the way is worse than both ends."
    if worst.max() > max(worst[0], worst[-1]) * 1.001:
        between = f"On the way Ms goes up to {worst.max():.2f} (authority {_AUTHORITY[int(worst.argmax())]:g})."
    steps = ", then ".join(f"{a:g}" for a in STEPS)
    text = (
        f"Go to authority {steps}; wait {change.waiting_time:.0f} s at each and compare with what is below. {between}"
    )
    return join((element("h2", "How to go there"), _table(rows), element("p", text)))


def _expected(change: ProposedChange) -> Html:
    scenario, signals = change.scenario, change.signals
    charts = []
    for name, label in (("y", "measured value, change"), ("u", "output, change")):
        bands = np.quantile(signals[name], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
        kinds = zip(bands, (5, 25, 50, 75, 95), ("k2", "k1", "k0", "k1", "k2"), strict=True)
        curves = tuple(Curve(signals["time"], band, f"{percent} %", style) for band, percent, style in kinds)
        charts.append(line_chart(LineChart(label, curves, width=460.0, height=190.0)))
    half = signals["y"][:, : signals["y"].shape[1] // 2]
    over = (np.sign(scenario.set_point) * half).max(axis=1) / abs(scenario.set_point) - 1.0
    middle, most = 100.0 * np.maximum(0.0, np.quantile(over, [0.5, 0.95]))
    text = (
        f"Scenario: a step of the set point by {scenario.set_point:.3g} at once, and a load of {scenario.load:.3g} at "
        "the plant's input half way. Curves: 5, 25, 50, 75 and 95 % of the plants. Overshoot "
        f"{middle:.0f} % for the middle plant, at most {most:.0f} % for 95 %; the output moves by up to "
        f"{np.abs(signals['u']).max():.3g}."
    )
    return join((element("h2", "What to expect"), element("div", *charts, class_="expected"), element("p", text)))


def _stop(change: ProposedChange) -> Html:
    named = zip(("kp", "ki", "kd"), change.present.vector, strict=True)
    back = ", ".join(f"{name} {value:.4g}" for name, value in named)
    text = (
        f"Go back to {back} if the error stays beyond {change.abort['error']:.3g}, or the output moves by more than "
        f"{change.abort['output']:.3g} from where it rests (99.9 % of what the plants do in the scenario, once the "
        "step has begun to act), or an oscillation does not decay within three periods."
    )
    return join((element("h2", "When to stop"), element("p", text)))


def _findings(case: CommissioningCase) -> Html:
    if not case.found.findings:
        return Html("")
    items = [
        element("li", f"{one.severity}: {one.text}" + (f" ({one.advice})" if one.advice else ""))
        for one in case.found.findings
    ]
    return join((element("h2", "What the log shows"), element("ul", *items)))


def _rests_on(case: CommissioningCase) -> Html:
    tests = tests_of(case.found)
    if not tests:
        return Html("")
    likely = {name: share for name, share in tests["structures"].items() if share > _RARE}
    structures = ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in likely.items())
    text = (
        f"{len(case.log)} rows of {case.log.step:g} s. Plants: {structures}. Evidence that the output follows the "
        f"input: {tests['input_evidence']:.0f} (at least 6). Ljung-Box of the residuals: {tests['ljung_box']:.0f} (at "
        f"most 60). Plants are spread by {case.found.discrepancy:g}, as none of the class is the real one. Nothing "
        "is promised for moves that are not in the scenario, for another operating point, or if the plant changes."
    )
    return join((element("h2", "What it rests on"), element("p", text)))


def _table(rows: Sequence[Sequence[str]]) -> Html:
    head, *body = rows
    lines = [element("tr", *(element("th", cell) for cell in head))]
    lines += [element("tr", *(element("td", cell) for cell in row)) for row in body]
    return element("table", *lines, class_="sheet")
