"""Sections and settings of a .fis file: lines with their numbers, words, numbers in brackets."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from flcs.exchange.system import refuse

_SECTION = re.compile(r"\[\s*(System|Input|Output|Rules)\s*(\d*)\s*\]\Z", re.IGNORECASE)


@dataclass
class Section:
    """Lines of one section: numbers of lines with their texts, and settings by name."""

    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)
    settings: dict[str, tuple[int, str]] = field(default_factory=dict)

    def text(self, key: str) -> tuple[int, str]:
        """Return a setting without its quotes, and its line."""
        if key.lower() not in self.settings:
            refuse(self.line, f"a line {key}=... in this section", "none")
        line, value = self.settings[key.lower()]
        return line, value.strip("'")

    def numbers(self, key: str) -> tuple[int, tuple[float, ...]]:
        """Return a setting that is a list of numbers in brackets, and its line."""
        line, value = self.text(key)
        if not (value.startswith("[") and value.endswith("]")):
            refuse(line, f"{key}=[numbers]", repr(value))
        return line, numbers_in(value[1:-1], line)

    def count(self, key: str) -> int:
        """Return a setting that is a whole number."""
        line, value = self.text(key)
        return int(value) if re.fullmatch(r"\d{1,6}", value) else refuse(line, f"{key}=a whole number", repr(value))


def sections_of(text: str) -> dict[tuple[str, str], Section]:
    """Return the sections of a file by kind and number."""
    found: dict[tuple[str, str], Section] = {}
    section = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "%#":
            continue
        head = _SECTION.match(line)
        if head:
            key = (head[1].lower(), head[2])
            if key in found:
                refuse(number, "each section once", line)
            section = found[key] = Section(number)
        elif section is None or line[0] == "[":
            refuse(number, "a section [System], [Input1], [Output1] or [Rules]", repr(line[:60]))
        else:
            section.lines.append((number, line))
            name, equals, value = line.partition("=")
            if equals:
                section.settings[name.strip().lower()] = (number, value.strip())
    return found


def numbered(sections: dict[tuple[str, str], Section], kind: str, number: int) -> Section:
    """Return the section of one input or output."""
    return sections.get((kind.lower(), str(number))) or refuse(0, f"a section [{kind}{number}]", "none")


def numbers_in(text: str, line: int) -> tuple[float, ...]:
    """Return numbers that stand between blanks, commas or semicolons."""
    values = []
    for word in re.split(r"[\s,;]+", text.strip()):
        try:
            values.append(float(word))
        except ValueError:
            refuse(line, "a number", repr(word))
        if not math.isfinite(values[-1]):
            refuse(line, "a finite number", word)
    return tuple(values)
