"""The command ``sscq lint``: inspect knowledge bases, for reviews and for CI."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from experiments.runtime.errors import USER_ERROR, UserError, sentence, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from flcs import Finding

_EXIT_FOUND = 1  # exit code
_WIDTH = 110
_INDENT = " " * 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes, and what it runs."""
    parser.description = "Exit code: 0 no errors, 1 errors (with --strict: or warnings), 2 a file cannot be read."
    parser.add_argument("files", nargs="*", metavar="KB.json", help="knowledge bases")
    parser.add_argument("--data", metavar="FILE", help="teaching signal or recorded inputs, .csv or .npz")
    parser.add_argument("--limit", metavar="NAME=VALUE", action="append", default=[], help="such as contradiction=0.2")
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    parser.add_argument("--json", action="store_true", help="print plain data")
    parser.add_argument("--explain", metavar="CODE", help="say what a code means, such as L101")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Inspect all files; SystemExit with 1 or 2 where there is something to mend."""
    if options.explain:
        from flcs.lint.findings import explain

        print(*(textwrap.fill(line, _WIDTH) for line in explain(options.explain).splitlines()), sep="\n")
        return
    if not options.files:
        raise UserError("give a knowledge base: sscq lint knowledge_base.json (or --explain CODE)")
    found = _found(options.files, options.data, options.limit)
    if options.json:
        print(json.dumps({"files": [_plain(file, result) for file, result in found.items()]}, indent=1))
    else:
        for file, result in found.items():
            _show(file, result)
    code = _exit_code(list(found.values()), strict=options.strict)
    if code:
        raise SystemExit(code)


def _found(files: Sequence[str], data: str | None, settings: Sequence[str]) -> dict[str, tuple[Finding, ...] | str]:
    """Findings of each file, or the sentence that says why it cannot be read: the others are inspected all the same."""
    from flcs import KnowledgeBaseError, lint
    from flcs.lint.findings import Limits
    from flcs.lint.recorded_inputs import read

    limits, rows = Limits.parsed(settings), None if data is None else read(data)
    found: dict[str, tuple[Finding, ...] | str] = {}
    for file in files:
        try:
            found[file] = lint(file, rows, limits)
        except (KnowledgeBaseError, OSError) as error:
            found[file] = sentence(error)
    return found


def _exit_code(results: Sequence[tuple[Finding, ...] | str], *, strict: bool) -> int:
    if any(isinstance(result, str) for result in results):
        return USER_ERROR
    counted = {"error", "warning"} if strict else {"error"}
    return (
        _EXIT_FOUND if any(f.severity in counted for result in results for f in result if not isinstance(f, str)) else 0
    )


def _plain(file: str, result: tuple[Finding, ...] | str) -> dict[str, Any]:
    if isinstance(result, str):
        return {"file": file, "unreadable": result, "findings": []}
    return {"file": file, "unreadable": None, "findings": [finding.document() for finding in result]}


def _show(file: str, result: tuple[Finding, ...] | str) -> None:
    if isinstance(result, str):
        tell(f"error: {result}")
        return
    print(f"{file}: {_counted(result)}")
    several = len({finding.channel for finding in result} - {""}) > 1
    for finding in result:
        channel = f"{finding.channel}: " if several and finding.channel else ""
        for text, head in (
            (channel + finding.message, f"  {finding.severity:<8}{finding.code}  "),
            (finding.advice, ""),
        ):
            lead = head or f"{_INDENT}-> "
            print(textwrap.fill(text, _WIDTH, initial_indent=lead, subsequent_indent=_INDENT, break_on_hyphens=False))


def _counted(result: Sequence[Finding]) -> str:
    from flcs.lint.findings import SEVERITIES

    counts = [(sum(f.severity == severity for f in result), severity) for severity in SEVERITIES]
    return ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts if n) or "nothing found"
