"""The picture of a report in the README, cut out of a real one.

    sscq design budget=small output=runs/first
    python docs/examples/report_picture.py runs/first/report.html docs/guide/report.svg

Verdict, conditions, the comparison and two responses stand as in the page, with its own style in light colours.
"""

import html
import re
import sys
from pathlib import Path
from textwrap import wrap

WIDTH, HALF = 900, 430
COLUMN = 60  # characters
SHOWN = ("unforeseen", 2)  # the first two responses to situations of this kind


def plain(text: str) -> str:
    """Text of a piece of the page, without its marks, fit for a drawing."""
    return html.escape(html.unescape(re.sub(r"<[^>]+>", "", text)), quote=False)


def first(pattern: str, page: str) -> str:
    """The first match's group."""
    found = re.search(pattern, page, re.DOTALL)
    if found is None:
        raise SystemExit(f"the report has no {pattern!r}: was its page changed? Mend {Path(__file__).name}.")
    return found.group(1)


def placed(chart: str, x: float, y: float) -> tuple[str, float]:
    """A chart of the page at a place of the picture, and its height there."""
    width, height = (float(value) for value in first(r'viewBox="0 0 ([\d.]+ [\d.]+)"', chart).split())
    high = HALF * height / width
    return chart.replace("<svg ", f'<svg x="{x}" y="{y}" width="{HALF}" height="{high:.0f}" ', 1), high


def line(text: str, x: float, y: float, style: str) -> str:
    """One line of text."""
    return f'<text x="{x}" y="{y}" style="{style}">{text}</text>'


def picture(page: str) -> str:
    """The drawing."""
    style = first(r"(:root \{.*?\n\})", page) + first(r"(\nsvg text \{.*?)\n\.swatch", page)
    parts = [line(plain(first(r"<h1>(.*?)</h1>", page)), 14, 32, "font: 700 17px sans-serif; fill: var(--ink)")]
    parts.append(line(plain(first(r'<span class="big">(.*?)</span></span>', page)), 14, 58,
                      "font: 700 16px sans-serif; fill: var(--gain)"))  # fmt: skip
    conditions = re.findall(r"<li>(.*?)</li>", first(r'<ul class="criteria">(.*?)</ul>', page), re.DOTALL)
    rows = [(14 + 12 * (k > 0), part) for text in conditions for k, part in enumerate(wrap(plain(text), COLUMN))]
    parts += [line(text, x, 84 + 19 * i, "font: 12px sans-serif") for i, (x, text) in enumerate(rows)]
    chart, high = placed(first(r'<div class="against">.*?(<svg.*?</svg>)<small>', page), HALF + 30, 76)
    parts += [line("Cost against each of the others, fresh situations", HALF + 30, 58, "font: 600 13px sans-serif"),
              chart]  # fmt: skip
    top = 50 + max(high + 26, 19 * len(rows) + 34) + 24
    responses = page[page.index("<h2>Responses</h2>") :]
    hidden = "|".join(re.findall(r'class="chip off"[^>]*data-k="(\w+)"', responses))
    responses = re.sub(rf'<path d="[^"]*" class="curve [^"]*\b(?:{hidden})"[^>]*/>', "", responses)
    figures = [one for one in re.findall(r"<figure.*?</figure>", responses, re.DOTALL) if SHOWN[0] in plain(one)[:200]]
    for i, figure in enumerate(figures[: SHOWN[1]]):
        chart, high = placed(
            first(r"(<svg[^>]*class=\"chart\".*?</svg>.*?</svg>)", figure), 14 + i * (HALF + 16), top + 8
        )
        name = plain(first(r"<figcaption>.*?<b>(.*?)</b>", figure))
        parts += [
            line(f"{name} (named situation, {SHOWN[0]})", 14 + i * (HALF + 16), top, "font: 600 13px sans-serif"),
            chart,
        ]
    chips = re.findall(r'class="chip"[^>]*>.*?class="curve (k\d)[^"]*"/></svg>(.*?)</button>', responses, re.DOTALL)
    for i, (colour, name) in enumerate(dict.fromkeys(chips)):
        parts.append(
            line(plain(name), 60 + 230 * i, top + high + 22, f"font: 600 12px sans-serif; fill: var(--{colour})")
        )
    height = top + high + 32
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif">'
            f'<style>{style}</style><rect width="{WIDTH}" height="{height:.0f}" style="fill: var(--card)"/>'
            + "\n".join(parts) + "</svg>\n")  # fmt: skip


if __name__ == "__main__":
    source, target = sys.argv[1:]
    Path(target).write_text(picture(Path(source).read_text(encoding="utf-8")), encoding="utf-8")
