"""The Structured Text export: a function block, and its proof by an interpreter of our own.

No compiler of IEC 61131-3 can be had from a package registry. So the text is read by an independent grammar where one
is installed (tree-sitter's), and run by :mod:`flcs.export.structured_text.interpreter`, which knows nothing of the
printer.
"""

from __future__ import annotations

from importlib import import_module, metadata, util
from typing import TYPE_CHECKING

import numpy as np

from flcs.export.proof import Proof, compared
from flcs.export.structured_text import function_block
from flcs.export.structured_text.function_block import identifiers
from flcs.export.structured_text.interpreter import load
from flcs.export.structured_text.syntax import StructuredTextError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs.export.job import Job
    from flcs.export.machine import Machine

    Array = NDArray[np.float64]

TARGETS = {"st": "LREAL", "st_real": "REAL"}
BOUNDS = {"LREAL": 1e-12, "REAL": 2e-4}
"""Shares of a signal's range, as of C in double and in single precision."""
CHECKER = "own interpreter"
_GRAMMAR = ("tree_sitter", "tree_sitter_iec61131_3_st")


def files(job: Job, real: str) -> dict[str, str]:
    """Return the export's file by name."""
    return {f"{job.machine.name}.st": function_block.text(job.machine, real)}


def prove(job: Job, folder: Path, real: str) -> Proof:
    """Read the file by an independent grammar where there is one, and interpret it on all sequences."""
    target = next(name for name, kind in TARGETS.items() if kind == real)
    text = (folder / f"{job.machine.name}.st").read_text(encoding="utf-8")
    checker = CHECKER
    try:
        grammar = refused_by_grammar(text)
        if grammar is not None:
            version = metadata.version(_GRAMMAR[1].replace("_", "-"))
            checker = f"{CHECKER}; syntax by {_GRAMMAR[1].replace('_', '-')} {version}"
            if grammar:
                return Proof(target, checker, "failed", grammar, BOUNDS[real])
        found = {name: interpreted(job.machine, text, rows) for name, rows in job.sequences.items()}
    except StructuredTextError as error:
        return Proof(target, checker, "failed", str(error), BOUNDS[real])
    return compared(job, target, checker, BOUNDS[real], found, rough=real == "REAL")


def interpreted(machine: Machine, text: str, rows: Array) -> Array:
    """Return the outputs [n, n_outputs] of a function block for rows of inputs, a fresh instance of it."""
    block, names = load(text), identifiers(machine.memory, (machine.name, function_block.RESTART, function_block.COUNT))
    inputs = [names[signal.name] for signal in machine.inputs]
    order = [block.outputs.index(names[signal.name].upper()) for signal in machine.outputs]
    taken = np.empty((len(rows), len(order)))
    for k, row in enumerate(np.asarray(rows, dtype=float).tolist()):
        outputs = block(dict(zip(inputs, row, strict=True)))
        taken[k] = [outputs[place] for place in order]
    return taken


def refused_by_grammar(text: str) -> str | None:
    """Return what an independent grammar of the standard refuses; empty where nothing, None where it is missing."""
    if any(util.find_spec(name) is None for name in _GRAMMAR):
        return None
    tree_sitter, standard = (import_module(name) for name in _GRAMMAR)
    tree = tree_sitter.Parser(tree_sitter.Language(standard.language())).parse(text.encode())
    if not tree.root_node.has_error:
        return ""
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            return f"line {node.start_point[0] + 1}: the grammar of the standard refuses it"
        stack += reversed(node.children)
    return "the grammar of the standard refuses it"
