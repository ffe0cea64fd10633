"""Files of knowledge bases: plain JSON, and unchanged since it was saved (its hash is in it)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from flcs.knowledge_base.complaints import KnowledgeBaseError
from plants.core.reading import formats
from plants.core.reading.files import FileError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def content_hash(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document without its "hash" entry, in canonical form."""
    content = {key: value for key, value in document.items() if key != "hash"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


_ADVICE = "take an intact copy, or design the knowledge base again"


def read(path: str | Path) -> Mapping[str, Any]:
    """Return the JSON mapping in a file.

    Raises
    ------
    KnowledgeBaseError
        If the file is not a JSON mapping of finite numbers.
    OSError
        If it cannot be opened.
    """
    try:
        document = formats.read_json(path)
    except FileError as error:
        raise KnowledgeBaseError(f"{error}; {_ADVICE}") from None
    if not isinstance(document, dict):
        raise KnowledgeBaseError(f"{path}: expected a JSON mapping, got {type(document).__name__}; {_ADVICE}")
    return document


def check_hash(path: str | Path, document: Mapping[str, Any], *, edited: bool) -> None:
    """Raise KnowledgeBaseError if the content does not fit the document's hash, unless it was `edited` on purpose."""
    expected, found = document.get("hash"), content_hash(document)
    if expected != found and not edited:
        raise KnowledgeBaseError(
            f"{path} was changed after it was saved: expected content hash {expected}, got {found}; {_ADVICE}, or, if "
            "the change is meant, load it with edited=True and save it"
        )
