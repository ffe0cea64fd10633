"""Numbers as a reader wants them: four digits, true minus signs, "not available" where there is none."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from experiments.report.drawing.html import Html, element, join

if TYPE_CHECKING:
    from experiments.report.records.results import Estimate

MISSING = "not available"
_PERCENT = "\u00a0%"
_ONE = re.compile("^(−?)1·(?=10)")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 4) -> str:
    """The value with so many significant digits, for example −0.3125, 1.2·10⁻⁷, ∞."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = float(f"{value:.{digits}g}") if abs(value) < 10.0**digits else float(round(value))
    if rounded and not 1e-3 <= abs(rounded) < 10.0 ** max(digits, 5):
        mantissa, exponent = f"{rounded:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        written = f"{mantissa}·10{superscript(int(exponent))}"
    else:
        decimals = max(0, digits - 1 - (math.floor(math.log10(abs(rounded))) if rounded else 0))
        written = f"{rounded:.{decimals}f}" if rounded else "0"
    return written.replace("-", "−")


def superscript(power: int) -> str:
    """A power as raised digits."""
    return str(power).translate(_SUPERSCRIPT)


def count(value: float | None) -> str:
    """A whole number with thin spaces between thousands."""
    return MISSING if value is None or not math.isfinite(value) else f"{round(value):,}".replace(",", "\u202f")


def plain(value: float) -> str:
    """A short number: no trailing zeros."""
    written = number(value, 6)
    return written.rstrip("0").rstrip(".") if "." in written and "·" not in written else written


def tick_label(value: float) -> str:
    """A number at an axis: powers of ten alone without their 1."""
    return _ONE.sub(r"\1", plain(value))


def with_unit(value: float, unit: str) -> str:
    """Return a value with its unit; "1" is none."""
    return f"{plain(value)} {unit}" if unit not in {"", "1"} else plain(value)


def percent(change: float | None, digits: int = 1) -> str:
    """A relative change with its sign, for example −31.2 %, +0.4 %; as a factor, 14.1 ×, where it exceeds ten."""
    if change is None or math.isnan(change):
        return MISSING
    if math.isinf(change):
        return f"+∞{_PERCENT}" if change > 0 else f"−∞{_PERCENT}"
    if change >= 9.0:
        return f"{number(1.0 + change, 3)}\u00a0×"
    value = 100.0 * change
    decimals = digits if abs(value) < 99.95 else 0
    rounded = round(value, decimals)
    return f"0{_PERCENT}" if rounded == 0 else f"{rounded:+.{decimals}f}{_PERCENT}".replace("-", "−")


def share(value: float | None) -> str:
    """A share of the whole in percent, for example 3.2 %."""
    return f"below 0.1{_PERCENT}" if value is not None and 0.0 < value < 0.0005 else percent(value).lstrip("+")


def interval(estimate: Estimate, as_percent: bool = True) -> str:
    """The interval in words, empty where there is none: "95 % interval −36 … −25 %"."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    low, high = _ends(estimate) if as_percent else (number(estimate.low), number(estimate.high))
    return f"95 % interval {low.removesuffix(_PERCENT) if as_percent else low} … {high}"


def _ends(estimate: Estimate) -> tuple[str, str]:
    """Both ends of an interval of changes, with a digit more where they would read alike."""
    ends = estimate.low, estimate.high
    low, high = map(percent, ends)
    if low == high and estimate.low != estimate.high:
        low, high = (percent(end, digits=2) for end in ends)
    return low, high


def bracketed(estimate: Estimate) -> str:
    """A change with its interval in brackets: "−14.9 % [−15.3 … −14.6]"."""
    written = percent(estimate.value)
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return written
    low, high = (end.removesuffix(_PERCENT) for end in _ends(estimate))
    return f"{written} [{low}\u00a0…\u00a0{high}]"


def judged(change: float | None, tolerance: float = 0.005, *, more_is_better: bool = False) -> Html:
    """A relative change marked by sign, word and class: "▲ +4.0 % worse", "▼ −31 % better", "= equal"."""
    if change is None or math.isnan(change):
        return missing()
    sign = "▲" if change > 0.0 else "▼"
    if (-change if more_is_better else change) > tolerance:
        return element("span", f"{sign} {percent(change)} worse", class_="loss")
    if abs(change) > tolerance:
        return element("span", f"{sign} {percent(change)} better", class_="gain")
    return element("span", f"= {percent(change)} equal", class_="even")


def proven(estimate: Estimate, tolerance: float = 0.005) -> Html:
    """A change marked as `judged` does, except that one whose interval holds 0 is called "not proven"."""
    if estimate.open and abs(estimate.value) > tolerance:
        return element("span", f"≈ {percent(estimate.value)} not proven", class_="even")
    return judged(estimate.value, tolerance)


def short_mark(estimate: Estimate, tolerance: float = 0.005) -> tuple[str, str]:
    """The same where there is little room, as text and style: "▲ +4.0 % worse", "≈ −2.0 %", "−31 %"."""
    written = percent(estimate.value)
    if estimate.open and abs(estimate.value) > tolerance:
        return f"≈ {written}", "even"
    return (f"▲ {written} worse", "loss") if estimate.value > tolerance else (written, "")


UNPROVEN = "≈: neither gain nor loss is proven, the 95 % interval holds 0"


def missing(reason: str = "") -> Html:
    """The words "not available", with the reason where one is known."""
    return element("span", MISSING, f": {reason}" if reason else "", class_="missing")


def shown(value: float | None, unit: str = "", digits: int = 4) -> Html:
    """The number with its unit, or the mark of a missing one."""
    if value is None or math.isnan(value):
        return missing()
    return join((number(value, digits), f"\u00a0{unit}" if unit else ""))
