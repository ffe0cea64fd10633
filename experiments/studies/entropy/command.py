"""Entropy's own test: heat at equal tracking error, against effort and total variation as regularisers.

    python -m experiments.benchmark suite=entropy
    python -m experiments.benchmark suite=entropy plants=cstr evaluations=200 verdict_seeds=4 folder=runs/look

Hypothesis, plants, budgets, measures, seeds and the rule that decides are declared in
declarations/entropy_test.yaml; the result carries the file's hash, and says where words of the command line changed
what is declared. Writes entropy.json and entropy.md into the folder (runs/entropy): tables and verdicts in plain words,
losses said as losses.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.tables import markdown_table, number
from experiments.studies.entropy.outcomes import (
    DECLARED,
    ERROR,
    TEMPLATE,
    EntropyTest,
    declaration,
    of_plant,
    robustness,
)
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.studies.entropy.outcomes import AtBudget, Difference, OfPlant


def rows(found: OfPlant, declared: EntropyTest) -> list[str]:
    """Return one plant's table and verdict as Markdown lines."""
    table = [
        _row(one, name, title, found.least_error)
        for one in found.budgets for name, title in declared.regularisers.items()
    ]  # fmt: skip
    return TEMPLATE.lines("plant", {
        "found": found, "heat": declared.plants[found.plant], "least": number(found.least_error),
        "table": markdown_table(TEMPLATE.head["columns"], table), "verdict": TEMPLATE.head["verdicts"][found.verdict],
        "shares": _shares(found, declared),
    })  # fmt: skip


def _row(one: AtBudget, name: str, title: str, least: float) -> list[str]:
    gains = ", ".join(number(float(gain)) for gain in one.found[name].gains)
    used = f"{one.found[name].error / least:.2f} x"
    return [
        f"{one.budget:g} x", title, used, number(one.heat[name]), number(one.error[name]), gains,
        *_compared(one.against.get(name), one, name),
    ]  # fmt: skip


def _compared(difference: Difference | None, one: AtBudget, name: str) -> tuple[str, str, str]:
    if difference is None:
        return "", "", ""
    share = f" ({_share(difference, one, name)})"
    lost = f", {difference.new_failures} new failures" if difference.new_failures else ""
    result = "**loses**" if difference.result == "loses" else difference.result
    return _interval(difference.heat) + share, _interval(difference.error), result + lost


def _share(difference: Difference, one: AtBudget, name: str) -> str:
    base = abs(one.heat[name])
    return f"{100 * difference.heat[0] / base:+.1f} %" if base else "-"


def _interval(values: Sequence[float]) -> str:
    return f"{values[0]:+.3g} [{values[1]:+.3g}, {values[2]:+.3g}]"


def _shares(found: OfPlant, declared: EntropyTest) -> str:
    """Say against each rival how often it won and lost."""
    parts = []
    for name, title in list(declared.regularisers.items())[1:]:
        results = [one.against[name].result for one in found.budgets]
        won, lost = results.count("wins"), results.count("loses")
        shares = ", ".join(_share(one.against[name], one, name) for one in found.budgets)
        parts.append(f"Against {title}: {won} won, {lost} lost, {len(results) - won - lost} undecided; heat {shares}.")
    return " " + " ".join(parts)


def of_robustness(beside: Mapping[str, Any], declared: EntropyTest) -> list[str]:
    """Return the table of added delays and of what is saved, as Markdown lines."""
    asked, titles = declared.robustness, {"least IAE": "least IAE, no regulariser", **declared.regularisers}
    delays = [
        [titles[name], *(number(c["iae"]) + (f" ({c['failures']})" if c["failures"] else "") for c in cells.values())]
        for name, cells in beside["delays"].items()
    ]
    saved, entropy = beside["saved"], declared.entropy
    base = saved["least IAE"][entropy]
    changes = [
        [titles[name], number(v[ERROR]), number(v[entropy]), f"{100 * (v[entropy] / base - 1.0):+.1f} %"]
        for name, v in saved.items()
    ]
    reached = 1.0 - saved[entropy][entropy] / base
    return TEMPLATE.lines("robustness", {
        "asked": asked, "wanted": 100 * asked.wanted_reduction, "reached": 100 * reached,
        "word": "reached" if reached >= asked.wanted_reduction else "**missed**",
        "delays": markdown_table(["least", *(f"+{delay} s" for delay in beside["delays"]["least IAE"])], delays),
        "saved": markdown_table(("least", "IAE", "integral of |dS_u - dS_c|, J", "change"), changes),
    })  # fmt: skip


def page(found: Sequence[OfPlant], beside: Mapping[str, Any], declared: EntropyTest, changed: Sequence[str]) -> str:
    """Return the whole result as Markdown."""
    return TEMPLATE.page({
        "file": DECLARED.name, "declared": declared,
        "verdicts": ", ".join(f"{one.plant} {one.verdict}" for one in found),
        "changed": ["", f"**Not as declared: {', '.join(changed)}.**"] if changed else [],
        "plants": [line for one in found for line in rows(one, declared)],
        "robustness": of_robustness(beside, declared),
    })  # fmt: skip


_NUMBERS = ("evaluations", "search_seeds", "verdict_seeds")


def options(words: Sequence[str]) -> tuple[EntropyTest, Path, tuple[str, ...]]:
    """Read the command's words; return what is run, where to, and which words change what is declared."""
    declared, folder, changed = declaration(), Path(TEMPLATE.head["folder"]), []
    for word in words:
        key, equals, value = word.partition("=")
        if key == "folder" and equals:
            folder = Path(value)
        elif key == "plants" and equals:
            unknown = [name for name in value.split(",") if name not in declared.plants]
            if unknown:
                raise UserError(f"{unknown[0]} is not declared: the test's plants are {', '.join(declared.plants)}")
            declared = replace(declared, plants={name: declared.plants[name] for name in value.split(",")})
            changed.append(word)
        elif key in _NUMBERS and value.isdecimal() and int(value) > (key == "verdict_seeds"):
            declared = replace(declared, **{key: int(value)})  # type: ignore[arg-type]
            changed.append(word)
        else:
            raise UserError(f"expected folder=, plants= or a whole number for {', '.join(_NUMBERS)}, got {word!r}")
    return declared, folder, tuple(changed)


def main(words: Sequence[str]) -> None:
    """Run the test, print its tables, and write them."""
    with user_errors():
        declared, folder, changed = options(words)
        folder.mkdir(parents=True, exist_ok=True)
        found: list[OfPlant] = []
        for name in declared.plants:
            found.append(of_plant(name, declared))
            print("\n".join(rows(found[-1], declared)), flush=True)
        beside = robustness(declared)
        print("\n".join(of_robustness(beside, declared)), flush=True)
        data = {"declaration": asdict(declared), "changed": changed, "plants": found, "robustness": beside}
        formats.write_json(folder / "entropy.json", data)
        atomic_files.write(folder / "entropy.md", page(found, beside, declared, changed))
        print(f"\nwritten: {folder / 'entropy.md'}, entropy.json")
