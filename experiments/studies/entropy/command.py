"""Entropy's own test: heat at equal tracking error, against effort and total variation as regularisers.

    python -m experiments.benchmark suite=entropy
    python -m experiments.benchmark suite=entropy plants=cstr evaluations=200 verdict_seeds=4 folder=runs/look

Hypothesis, plants, budgets, measures, seeds and the rule that decides are declared in configs/entropy_test.yaml; the
result carries the file's hash, and says where words of the command line changed what is declared. Writes entropy.json
and entropy.md into the folder (runs/entropy): tables and verdicts in plain words, losses said as losses.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.tables import number
from experiments.studies.entropy.declaration import Declaration, declaration
from experiments.studies.entropy.outcomes import ERROR, of_plant, robustness
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.studies.entropy.outcomes import AtBudget, Difference, OfPlant


_HEAD = (
    "IAE budget", "least", "used of it", "heat, J", "IAE", "kp, ki, kd", "entropy's heat less the rival's, J",
    "its IAE less", "entropy",
)  # fmt: skip
_WORDS = {
    "holds": "The hypothesis holds: entropy loses less heat than both rivals at two budgets or more, and more at none.",
    "refuted": "The hypothesis is refuted: entropy loses more heat than a rival at two budgets or more.",
    "undecided": "Undecided: neither less heat than both rivals at two budgets, nor more than one of them at two.",
}


def rows(found: OfPlant, declared: Declaration) -> list[str]:
    """Return one plant's table and verdict as Markdown lines."""
    heat, least = declared.plants[found.plant], number(found.least_error)
    lines = [
        "", f"## {found.plant}", "", f"Heat: {heat}. Smallest mean IAE when taught: {least}.", "",
        "| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|",
    ]  # fmt: skip
    for one in found.budgets:
        lines += [_row(one, name, title, found.least_error) for name, title in declared.regularisers.items()]
    return [*lines, "", _WORDS[found.verdict] + _shares(found, declared)]


def _row(one: AtBudget, name: str, title: str, least: float) -> str:
    gains = ", ".join(number(float(gain)) for gain in one.found[name].gains)
    cells = [
        f"{one.budget:g} x",
        _cell(title),
        f"{one.found[name].error / least:.2f} x",
        number(one.heat[name]),
        number(one.error[name]),
        gains,
    ]
    return "| " + " | ".join([*cells, *_compared(one.against.get(name), one, name)]) + " |"


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


def _cell(text: str) -> str:
    """A cell of a table: a bar in it must not end it."""
    return text.replace("|", "\\|")


def _interval(values: Sequence[float]) -> str:
    return f"{values[0]:+.3g} [{values[1]:+.3g}, {values[2]:+.3g}]"


def _shares(found: OfPlant, declared: Declaration) -> str:
    """Say against each rival how often it won and lost."""
    parts = []
    for name, title in list(declared.regularisers.items())[1:]:
        results = [one.against[name].result for one in found.budgets]
        won, lost = results.count("wins"), results.count("loses")
        shares = ", ".join(_share(one.against[name], one, name) for one in found.budgets)
        parts.append(f"Against {title}: {won} won, {lost} lost, {len(results) - won - lost} undecided; heat {shares}.")
    return " " + " ".join(parts)


def of_robustness(beside: Mapping[str, Any], declared: Declaration) -> list[str]:
    """Return the table of added delays and of what is saved, as Markdown lines."""
    asked, titles = declared.robustness, {"least IAE": "least IAE, no regulariser", **declared.regularisers}
    delays = list(beside["delays"]["least IAE"])
    lines = [
        "", f"## {asked.plant}: mean IAE in unforeseen situations with added delay", "",
        f"IAE budget {asked.budget:g} x when taught; lost rollouts in brackets, left out of the mean.", "",
        "| least | " + " | ".join(f"+{delay} s" for delay in delays) + " |", "|---" * (1 + len(delays)) + "|",
    ]  # fmt: skip
    for name, cells in beside["delays"].items():
        told = [number(c["iae"]) + (f" ({c['failures']})" if c["failures"] else "") for c in cells.values()]
        lines.append("| " + " | ".join([_cell(titles[name]), *told]) + " |")
    saved, entropy = beside["saved"], declared.entropy
    base = saved["least IAE"][entropy]
    lines += ["", f"Taught, IAE budget {asked.entropy_budget:g} x:", "",
              "| least | IAE | integral of \\|dS_u - dS_c\\|, J | change |", "|---|---|---|---|"]  # fmt: skip
    for name, values in saved.items():
        cells = (number(values[ERROR]), number(values[entropy]), f"{100 * (values[entropy] / base - 1.0):+.1f} %")
        lines.append("| " + " | ".join([_cell(titles[name]), *cells]) + " |")
    reached = 1.0 - saved[entropy][entropy] / base
    word = "reached" if reached >= asked.wanted_reduction else "**missed**"
    return [*lines, "", f"Wanted: {100 * asked.wanted_reduction:.0f} % less; {word}, {100 * reached:.1f} %."]


def page(found: Sequence[OfPlant], beside: Mapping[str, Any], declared: Declaration, changed: Sequence[str]) -> str:
    """Return the whole result as Markdown."""
    verdicts = ", ".join(f"{one.plant} {one.verdict}" for one in found)
    lines = [
        "# Entropy's own test", "",
        "Written by `python -m experiments.benchmark suite=entropy`. Declared before it was run, in",
        f"`configs/entropy_test.yaml` (SHA-256 {declared.digest}).", "",
        f"Hypothesis: {declared.hypothesis}", "", f"**Verdicts: {verdicts}.**", "",
        f"Each regulariser: the best of {declared.search_seeds} searches of {declared.evaluations} evaluations, same",
        "start, same margins. The budget is one of mean IAE in the taught situations, of which a regulariser need not",
        f"use all. Heat and IAE are means over the unforeseen situations with {declared.verdict_seeds} seeds, where no",
        "budget binds; comparisons are paired, intervals of 95 % from resampled seeds.",
    ]  # fmt: skip
    if changed:
        lines += ["", f"**Not as declared: {', '.join(changed)}.**"]
    for one in found:
        lines += rows(one, declared)
    return "\n".join([*lines, *of_robustness(beside, declared)]).rstrip() + "\n"


_NUMBERS = ("evaluations", "search_seeds", "verdict_seeds")


def options(words: Sequence[str]) -> tuple[Declaration, Path, tuple[str, ...]]:
    """Read the command's words; return what is run, where to, and which words change what is declared."""
    declared, folder, changed = declaration(), Path("runs/entropy"), []
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
