"""Circles of imports, among files and among neighbours in a folder, and what can be reached."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach one another (strong components of two and more), the largest first."""
    backwards: dict[str, set[str]] = defaultdict(set)
    for node, others in graph.items():
        for other in others:
            backwards[other].add(node)
    taken: set[str] = set()
    found = []
    for node in reversed(_finished(graph)):
        if node not in taken:
            group = reached({node}, backwards, without=taken)
            taken |= group
            found.append(sorted(group))
    return sorted((group for group in found if len(group) > 1), key=lambda group: (-len(group), group))


def _finished(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Nodes in the order in which a search in depth leaves them."""
    seen: set[str] = set()
    order = []
    for start in sorted(graph):
        stack = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(other, False) for other in sorted(graph.get(node, ())) if other not in seen]
    return order


def reached(
    roots: Iterable[str], graph: Mapping[str, Iterable[str]], *, without: Iterable[str] = frozenset()
) -> set[str]:
    """Return the nodes that arrows lead to from `roots`, themselves included, never passing those `without`."""
    left_out, found, ahead = set(without), set(), list(roots)
    while ahead:
        node = ahead.pop()
        if node not in found and node not in left_out:
            found.add(node)
            ahead += graph.get(node, ())
    return found


def neighbours(graph: Mapping[str, Iterable[str]]) -> dict[str, dict[str, set[str]]]:
    """Return for each folder its children, files and folders, and which of them import which.

    Parameters
    ----------
    graph : mapping of str to iterable of str
        Imports among modules with dotted names.
    """
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, others in graph.items():
        path = name.split(".")
        for other in others:
            there = other.split(".")
            shared = next((k for k, (a, b) in enumerate(zip(path, there, strict=False)) if a != b), None)
            if shared:  # none: one is the other's package; 0: two top packages, whose order is a contract
                found[".".join(path[:shared])][path[shared]].add(there[shared])
    return {folder: dict(children) for folder, children in sorted(found.items())}
