"""Small writer of HTML and SVG elements: everything that is not already markup is escaped. And whole pages of them.

A page holds style and script of the report and loads nothing from a network.
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

VOID = frozenset({"br", "hr", "img", "meta", "path", "line", "rect", "circle"})
# XML allows no control characters but tab, line feed and carriage return; names from users' files may hold any.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Html(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


def text(value: object) -> Html:
    """Markup of any value: `Html` as it stands, the rest escaped."""
    return value if isinstance(value, Html) else Html(escape(_FORBIDDEN.sub("\ufffd", str(value))))


def join(parts: object, separator: str = "") -> Html:
    """One piece of markup of an iterable of pieces."""
    return Html(separator.join(text(part) for part in parts))  # type: ignore[attr-defined]


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """One element: `class_` gives class, `data_x` gives data-x; None and False leave an attribute out."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(
        f' {key}="{text(key if value is True else value)}"'
        for key, value in given.items()
        if value is not None and value is not False
    )
    if name in VOID and not children:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def asset(name: str) -> Html:
    """Return one of the report's files (style, script) as markup."""
    return Html((files("experiments.report.drawing") / name).read_text(encoding="utf-8"))


def svg(width: float, height: float, label: str, *parts: object, style: str = "chart") -> Html:
    """A drawing of so many pixels; `label` says it to those who cannot see it."""
    return element("svg", *parts, viewBox=f"0 0 {width:g} {height:g}", class_=style, role="img", aria_label=label)


def whole_page(title: str, body: Iterable[object], *styles: Html) -> str:
    """Return a complete HTML document.

    Parameters
    ----------
    title : str
        Of the window.
    body : iterable of Html
        What is in it, scripts among it.
    *styles : Html
        Style elements after the report's own.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", asset("style.css")),
        *styles,
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body), lang='en')}\n"


def head_line(title: str, subtitle: str, *links: Html) -> Html:
    """The line at the top of a page."""
    return element(
        "header", element("div", element("b", title), " ", element("span", subtitle, class_="plant")), *links
    )


def document(title: str, subtitle: str, *parts: Html) -> str:
    """Return a complete HTML document with the report's script.

    Parameters
    ----------
    title, subtitle : str
        Of its head line.
    *parts : Html
        What it shows.
    """
    body = (head_line(title, subtitle), element("main", *parts), element("script", asset("script.js")))
    return whole_page(f"{title} {subtitle}", body, element("style", "", id="hidden"))
