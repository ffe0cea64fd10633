"""Small writer of HTML and SVG elements: everything that is not already markup is escaped. And whole pages of them.

A page holds style and script of the report and loads nothing from a network.
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files

VOID = frozenset({"br", "hr", "meta", "path", "line", "rect", "circle"})
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


def document(title: str, subtitle: str, *parts: Html) -> str:
    """Return a complete HTML document.

    Parameters
    ----------
    title, subtitle : str
        Of its head line.
    *parts : Html
        What it shows.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} {subtitle}"),
        element("style", asset("style.css")),
        element("style", "", id="hidden"),
    )
    line = element("header", element("div", element("b", title), " ", element("span", subtitle, class_="plant")))
    body = element("body", line, element("main", *parts), element("script", asset("script.js")))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"
