"""Circles of imports, among files and among neighbours in a folder, and what can be reached."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach one another (strong components of two and more), the largest first."""
    names = sorted({*graph, *(other for others in graph.values() for other in others)})
    place = {name: k for k, name in enumerate(names)}
    arrows = [(place[node], place[other]) for node, others in graph.items() for other in others]
    shape = (len(names), len(names))
    matrix = coo_array((np.ones(len(arrows)), tuple(np.reshape(arrows, (-1, 2)).T.astype(int))), shape)
    _, component = connected_components(matrix, connection="strong")
    groups: dict[int, list[str]] = defaultdict(list)
    for name, number in zip(names, component.tolist(), strict=True):
        groups[number].append(name)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: (-len(group), group))


def reached(roots: Iterable[str], graph: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the nodes that arrows lead to from `roots`, themselves included."""
    found: set[str] = set()
    ahead = list(roots)
    while ahead:
        node = ahead.pop()
        if node not in found:
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
