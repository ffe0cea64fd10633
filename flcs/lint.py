"""Inspection of knowledge bases for people who read, edit and review them: contradictions and what is hardly meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flcs import kb_file
from flcs.knowledge_base import KnowledgeBase, KnowledgeBaseError
from flcs.linting import box, coverage, document, neighbours, rules, settings, steepness, terms
from flcs.linting.finding import Finding
from flcs.linting.limits import Limits
from flcs.linting.recorded import recorded
from flcs.linting.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FAMILIES = (
    coverage.find, rules.find, steepness.find, neighbours.find, box.find, terms.find, settings.find,
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
        Teaching signal or recorded inputs; see :func:`flcs.linting.recorded.recorded`.
    limits : Limits, optional
        What counts as a finding.

    Returns
    -------
    tuple of Finding
        Empty: nothing found. :func:`flcs.linting.codes.explain` says what a code means.

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
    from flcs import kb_schema

    read = source if isinstance(source, Mapping) else kb_file.read(source)
    try:
        whole, numbers, found = document.mended(read, limits)
        return kb_schema.from_document(whole), numbers, found
    except KnowledgeBaseError as error:
        if isinstance(source, Mapping):
            raise
        raise KnowledgeBaseError(f"{source}: {error}") from error
