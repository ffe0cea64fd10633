"""A page of the report as a test reads it."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Reader(HTMLParser):
    """Collects text and attributes, and fails on a tag that is not closed in order."""

    VOID = frozenset({"meta", "br", "hr"})

    def __init__(self):
        super().__init__()
        self.open, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, key, value) for key, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def words(page):
    """The text of the page, white space folded."""
    return re.sub(r"\s+", " ", " ".join(read(page).text))
