"""Inspection of knowledge bases for people who read, edit and review them: contradictions and what is hardly meant.

A file may have faults that no knowledge base can have: they are found in its document, and mended so that the rest can
be read. Whatever else is wrong with a document is left for the reader to refuse.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flcs.inference.rule_base import rule_number
from flcs.knowledge_base import files, knowledge_base
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.files import content_hash
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.lint import gains, inputs, rules, settings
from flcs.lint.findings import Finding, Limits
from flcs.lint.recorded_inputs import recorded
from flcs.lint.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_FAMILIES = (
    inputs.find_holes, rules.find_in_rules, gains.find_steep_gains, rules.find_jumps, gains.find_in_box,
    inputs.find_in_terms, settings.find_in_settings,
)  # fmt: skip


def lint(
    kb: KnowledgeBase | str | Path | Mapping[str, Any], data: Any = None, limits: Limits | None = None
) -> tuple[Finding, ...]:
    """Return what a reader of a knowledge base should look at, errors first.

    Parameters
    ----------
    kb : KnowledgeBase, path of its file, or document
        Files and documents are inspected as well for what no knowledge base can have: repeated rules, reference gains
        outside their box, a content changed after it was saved.
    data : mapping of names to columns, or object with `inputs` and `input_names`, optional
        Teaching signal or recorded inputs; see :func:`flcs.lint.recorded_inputs.recorded`.
    limits : Limits, optional
        What counts as a finding.

    Returns
    -------
    tuple of Finding
        Empty: nothing found. :func:`flcs.lint.findings.explain` says what a code means.

    Raises
    ------
    KnowledgeBaseError
        If the file or document cannot be read.
    ValueError
        If the data lack an input of the knowledge base or are not finite.

    Examples
    --------
    >>> for finding in flcs.lint("knowledge_base.json"):  # doctest: +SKIP
    ...     print(finding.severity, finding.code, finding.message)
    """
    limits = limits or Limits()
    numbers: Sequence[tuple[int, ...]] = ()
    found: list[Finding] = []
    if not isinstance(kb, KnowledgeBase):
        kb, numbers, found = _read(kb, limits)
    rows = None if data is None else recorded(data, kb)
    found += settings.find_shared(kb)
    for number in range(len(kb.channels)):
        subject = Subject(kb, number, limits, rows, numbers[number] if numbers else ())
        for find in _FAMILIES:
            found += find(subject)
    return tuple(sorted(found, key=Finding.order))


def _read(
    source: str | Path | Mapping[str, Any], limits: Limits
) -> tuple[KnowledgeBase, list[tuple[int, ...]], list[Finding]]:
    read = source if isinstance(source, Mapping) else files.read(source)
    try:
        whole, numbers, found = mended(read, limits)
        return knowledge_base.from_document(whole), numbers, found
    except KnowledgeBaseError as error:
        if isinstance(source, Mapping):
            raise
        raise KnowledgeBaseError(f"{source}: {error}") from error


def mended(document: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], list[tuple[int, ...]], list[Finding]]:
    """Return the document without repeated rules and with reference gains inside their box, and what was found.

    Parameters
    ----------
    document : mapping
        As read from a file; it is left as it is.
    limits : Limits

    Returns
    -------
    dict
        To be read.
    list of tuple of int
        For each channel, the places of its rules in the file.
    list of Finding
        L001, L201, L303, L603.

    Raises
    ------
    KnowledgeBaseError
        If a number is not finite.
    """
    found, numbers = list(_changed(document)), []
    channels = [dict(channel) for channel in _mappings(document.get("channels"))]
    for channel in channels:
        repeated = dict(_repeated(channel, limits))
        found += [*repeated.values(), *_reference(channel)]
        rules = channel.get("rules")
        kept = [k for k in range(len(rules)) if k not in repeated] if isinstance(rules, list) else []
        channel["rules"] = [rules[k] for k in kept] if isinstance(rules, list) else rules
        numbers.append(tuple(kept))
    return {**document, "channels": channels} if channels else dict(document), numbers, found


def _changed(document: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        here, expected = content_hash(document), document.get("hash")
    except ValueError as error:
        raise KnowledgeBaseError(f"expected finite numbers: {error}; take an intact copy or correct them") from error
    if here != expected:
        numbers = {"expected": str(expected), "found": here}
        yield Finding("L001", f"the content is not the one that was saved (hash {here:.19}...)", numbers=numbers)


def _repeated(channel: dict[str, Any], limits: Limits) -> Iterator[tuple[int, Finding]]:
    """Places of rules that have the terms of an earlier one, with the finding."""
    first: dict[tuple[Any, ...], tuple[int, dict[str, Any]]] = {}
    for number, rule in enumerate(_mappings(channel.get("rules"))):
        terms = _numbers(rule.get("terms"))
        if terms in first:
            yield number, _pair(channel, first[terms], (number, rule), limits)
        elif terms is not None:
            first[terms] = (number, rule)


def _pair(
    channel: dict[str, Any], one: tuple[int, dict[str, Any]], other: tuple[int, dict[str, Any]], limits: Limits
) -> Finding:
    low, high = (_numbers(channel.get(end)) or () for end in ("low", "high"))
    gains = [_numbers(rule.get("gains")) or () for _, rule in (one, other)]
    given = channel.get("gain_names")
    names = [str(name) for name in given] if isinstance(given, list) else []
    apart = [
        (abs(b - a) / (top - bottom), name, a, b)
        for name, a, b, bottom, top in zip(names, *gains, low, high, strict=False)
        if top > bottom
    ]
    most, name, a, b = max(apart, default=(0.0, "", 0.0, 0.0))
    rules = [rule_number(place) for place, _ in (one, other)]
    numbers = {"rules": rules, "difference": most}
    said = f"rules {rules[0]} and {rules[1]} have the same terms {list(one[1]['terms'])}"
    if most > limits.contradiction:
        message = f"{said} but {name} = {a:.4g} and {b:.4g}, {100 * most:.0f} % of the box apart"
        return Finding("L201", message, str(channel.get("name", "")), numbers)
    return Finding(
        "L303", f"{said}; their gains differ by {100 * most:.1f} % of the box", str(channel.get("name", "")), numbers
    )


def _reference(channel: dict[str, Any]) -> Iterator[Finding]:
    low, value, high = (_numbers(channel.get(name)) for name in ("low", "reference", "high"))
    names = channel.get("gain_names")
    if low is None or value is None or high is None or not isinstance(names, list):
        return
    if not len(low) == len(value) == len(high) == len(names) or any(a > b for a, b in zip(low, high, strict=True)):
        return
    for name, a, x, b in zip(names, low, value, high, strict=True):
        if not a <= x <= b:
            message = f"the reference gain {name} = {x:.4g} is outside the box {a:.4g} .. {b:.4g}"
            yield Finding("L603", message, str(channel.get("name", "")), {"gain": str(name), "value": x})
    channel["reference"] = [min(max(x, a), b) for a, x, b in zip(low, value, high, strict=True)]


def _mappings(value: object) -> list[dict[str, Any]]:
    return value if isinstance(value, list) and all(isinstance(item, dict) for item in value) else []


def _numbers(value: object) -> tuple[Any, ...] | None:
    return tuple(value) if isinstance(value, list) and all(map(_finite, value)) else None


def _finite(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and bool(abs(x) <= sys.float_info.max)
