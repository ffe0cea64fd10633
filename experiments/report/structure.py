"""What a design's searches over inputs, terms and the number of rules found, as rows of a table and as lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.report.records.situations import NAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.pipeline.knowledge import Refined


@dataclass(frozen=True)
class InputRow:
    """What one input is worth.

    Attributes
    ----------
    name : str
        With the channel, where there are several.
    kept : bool
    information, threshold : float
        Mutual information with the gains and what shifted copies reach by chance [nat].
    taught, validation : float
        Relative change of the cost without it; NaN: not tried.
    text : str
        Why it stays or went.
    """

    name: str
    kept: bool
    information: float = NAN
    threshold: float = NAN
    taught: float = NAN
    validation: float = NAN
    text: str = ""


def input_rows(training: Mapping[str, Any]) -> tuple[InputRow, ...]:
    """Return a row for every input that was a candidate, from a knowledge base's record of its training."""
    found, rows = training.get("structure", {}), []
    for channel, record in found.items():
        told, valued = record.get("information", {}), record.get("inputs", {})
        for name in dict.fromkeys([*told, *valued]):
            one, value = told.get(name, {}), valued.get(name)
            rows.append(
                InputRow(
                    name=name if len(found) == 1 else f"{name} of {channel}",
                    kept=one.get("kept", True) if value is None else value["kept"],
                    information=_number(one.get("information")),
                    threshold=_number(one.get("threshold")),
                    taught=_number(value and value["taught"]),
                    validation=_number(value and value["validation"]),
                    text=_choice(one, value),
                )
            )
    return tuple(rows)


def _number(value: float | None) -> float:
    return NAN if value is None else float(value)


def _choice(told: Mapping[str, Any], value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "kept" if told["kept"] else "left out: it tells no more about the gains than chance"
    return ": ".join(filter(None, ("kept" if value["kept"] else "left out", value["text"])))


def terms_text(training: Mapping[str, Any]) -> str:
    """Return what the search over linguistic terms found, in a sentence for every channel."""
    found, parts = training.get("structure", {}), []
    for channel, record in found.items():
        if "terms" in record:
            terms = record["terms"]
            counts = ", ".join(f"{name} {one['terms']}" for name, one in terms["inputs"].items())
            where = "" if len(found) == 1 else f" of {channel}"
            parts.append(
                f"Terms{where} by genetic search: {counts}; {terms['shape']}; the rules tell "
                f"{terms['information']:.3g} nat about the gains, less what as many would tell by chance."
            )
    return " ".join(parts)


def sentences(refined: Mapping[str, Refined]) -> list[str]:
    """Return the structure in lines, and one line for every refined knowledge base."""
    titles = {"equal": "knowledge base", "free": "knowledge base, free actuator travel"}
    training: Mapping[str, Any] = next((one.kb.training for one in refined.values()), {})
    lines = [line for line in (terms_text(training), *map(_line, input_rows(training))) if line]
    return lines + [f"{titles[kind]}: {one.curve.sentence()}" for kind, one in refined.items() if one.curve is not None]


def _line(row: InputRow) -> str:
    """One input as text: what it tells, what the loop loses without it, and the choice."""
    told = "" if math.isnan(row.information) else f" tells {row.information:.3g} nat (by chance {row.threshold:.3g});"
    lost = (
        ""
        if math.isnan(row.taught)
        else f" without it {100.0 * row.taught:+.1f} % (validation {100.0 * row.validation:+.1f} %);"
    )
    return f"input {row.name}:{told}{lost} {row.text}"
