"""A page of its own for what is no design: style and script of the report, and nothing from a network."""

from __future__ import annotations

from importlib.resources import files

from experiments.report.markup import Html, element

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def asset(name: str) -> Html:
    """Return one of the report's files (style, script) as markup."""
    return Html((files("experiments.report") / name).read_text(encoding="utf-8"))


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
