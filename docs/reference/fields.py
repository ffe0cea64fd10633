"""Write docs/reference/fields.md: `python docs/reference/fields.py`. Names and texts come from the code."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import plants
import sscq
from plants.core import elementary
from plants.core.quantities import ControlTask

PAGE = Path(__file__).with_suffix(".md")
CLASSES: tuple[type[Any], ...] = (
    plants.Quantity,
    plants.Channel,
    plants.OperatingPoint,
    plants.Plant,
    ControlTask,
    plants.OperatingRanges,
    sscq.Situation,
)
HEAD = """# Fields and functions

All that can be written in a plant file and in a situation. Made of the docstrings by `python docs/reference/fields.py`;
a test says when it has to be made anew. How they are used: [cookbook](../guide/cookbook.md),
[pendulum.py](../examples/pendulum.py).
"""
SITUATIONS = """
### Situations of your own

In Python every field above can be given. What is left out keeps its default:

```python
import controllers
import plants
import sscq

gust = sscq.Situation(
    name="gust", reference={"position": 1.0}, excitation=0.2, initial={"position": 0.3}, noise=0.01, t_end=5.0
)
plant = plants.get("van_der_pol")
result = sscq.evaluate(plant, controllers.PID(), [[5.0, 1.0, 1.0]], [gust], step=0.01)
assert result.iae.shape == (1, 1)
```

On the command line: `situations.taught`, `situations.validation` and `situations.unforeseen` in the
[cookbook](../guide/cookbook.md).
"""


def described(kind: type[Any]) -> dict[str, str]:
    """Return type and text of each attribute of a numpy docstring."""
    section = re.search(r"Attributes\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+|\Z)", inspect.getdoc(kind) or "", re.DOTALL)
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in (section[1] if section else "").splitlines():
        if re.match(r"\S", line):
            left, _, form = line.partition(" : ")
            names = [name.strip() for name in left.split(",")]
            texts |= dict.fromkeys(names, f"{form}:" if form else "")
        else:
            texts |= {name: f"{texts[name]} {line.strip()}".strip() for name in names}
    return {name: text.removesuffix(":") for name, text in texts.items()}


def table(kind: type[Any]) -> str:
    """Return the fields of a class as a table: name, default, meaning."""
    texts, rows = described(kind), []
    for field in dataclasses.fields(kind):
        rule = field.metadata.get("rule")
        setting = f"{rule.text}{f' [{rule.unit}]' if rule.unit else ''};" if rule else ""
        text = " ".join(filter(None, (setting, texts.get(field.name, "")))).replace("|", "/")
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        plain = isinstance(field.default, (int, float, str, bool, tuple, type(None)))
        default = "must be given" if required else f"`{field.default!r}`" if plain else "none of its own"
        rows.append(f"| `{field.name}` | {default} | {text} |\n")
    return f"\n## {kind.__name__}\n\n| field | default | meaning |\n|---|---|---|\n{''.join(rows)}"


def functions() -> str:
    """Return the elementary functions as a table."""
    rows = []
    for name in sorted(elementary.__all__):
        function = getattr(elementary, name)
        arguments = ", ".join(inspect.signature(function).parameters)
        text = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).replace("|", "/")
        rows.append(f"| `{name}({arguments})` | {text} |\n")
    head = "\n## Elementary functions\n\nOf `plants.core.elementary`; they take floats, arrays and traced numbers.\n\n"
    return f"{head}| function | gives |\n|---|---|\n{''.join(rows)}"


def page() -> str:
    """Return the whole page."""
    return HEAD + "".join(table(kind) for kind in CLASSES) + SITUATIONS + functions()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
