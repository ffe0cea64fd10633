"""Rules of the house that can be checked: each counts what breaks it, and what is excused is declared, to the number.

An excuse that is larger than what is found is an error too: so the list of excuses can only shrink.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from benchmarks.structure.measures import families

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.structure.source import Module, Source

CROWDED = 15  # files
LONGEST = 450  # lines


def crowded_folders(source: Source) -> dict[str, int]:
    """At most 15 Python files a folder."""
    sizes = Counter(str(module.path.parent) for module in (*source.package.values(), *source.tests.values()))
    return {folder: size for folder, size in sizes.items() if size > CROWDED}


def undescribed_folders(source: Source) -> dict[str, int]:
    """A folder of package code has an `__init__` whose docstring says what is in it."""
    described = {str(module.path.parent) for module in source.package.values() if _describes(module)}
    return {folder: 1 for folder in source.folders if folder not in described}


def _describes(module: Module) -> bool:
    return module.is_package and bool(module.facts.docstring)


def prefix_families(source: Source) -> dict[str, int]:
    """No three files of a folder whose names begin with one word: they are a folder, or one file."""
    return {prefix: len(names) for prefix, names in families(source).items()}


def repeated_class_names(source: Source) -> dict[str, int]:
    """A class name says one thing: no second class has it."""
    return {name: len(places) for name, places in source.class_names.items() if len(places) > 1}


def private_names_in_tests(source: Source) -> dict[str, int]:
    """Tests use public names."""
    found: Counter[str] = Counter()
    for name, module in source.tests.items():
        own = {one for one in source.imports[name] if one.module in source.package}
        number = sum(_is_private(taken) for one in own for taken in one.names)
        number += sum(_is_private(one.module.split(".")[-1]) for one in own)
        number += _private_attributes(module)
        if number:
            found["/".join(module.path.parts[:2])] += number
    return dict(found)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _private_attributes(module: Module) -> int:
    """Uses of `module._name`, where `module` was imported whole."""
    if "._" not in module.text:
        return 0
    syntax = module.syntax
    modules = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(syntax)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    uses = (node for node in ast.walk(syntax) if isinstance(node, ast.Attribute) and _is_private(node.attr))
    return sum(isinstance(use.value, ast.Name) and use.value.id in modules for use in uses)


def imports_of_tests(source: Source) -> dict[str, int]:
    """Neither packages nor benchmarks import tests."""
    number = {name: sum(one.module in source.tests for one in source.imports[name]) for name in source.package}
    return {name: count for name, count in number.items() if count}


def imports_in_functions(source: Source) -> dict[str, int]:
    """Own modules are imported at the top of a file; elsewhere where a measured start-up time asks for it."""
    return {name: len(modules) for name, modules in source.inside_functions.items()}


def long_files(source: Source) -> dict[str, int]:
    """No file above 450 lines."""
    modules = (*source.package.values(), *source.tests.values())
    return {str(module.path): 1 for module in modules if len(module.lines) > LONGEST}


def unformatted_places(source: Source) -> dict[str, int]:
    """The formatter lays out the code: few places are left to the hand."""
    found: dict[str, int] = defaultdict(int)
    for module in source.package.values():
        found[module.path.parts[0]] += sum("# fmt: skip" in line for line in module.lines)
    return {package: number for package, number in found.items() if number}


RULES: dict[str, Callable[[Source], dict[str, int]]] = {
    rule.__name__: rule
    for rule in (
        crowded_folders,
        undescribed_folders,
        prefix_families,
        repeated_class_names,
        private_names_in_tests,
        imports_of_tests,
        imports_in_functions,
        long_files,
        unformatted_places,
    )
}


def complaints(rule: str, source: Source, excused: Mapping[str, int]) -> list[str]:
    """Return what breaks a rule beyond what is excused, and excuses that are no longer needed."""
    found = RULES[rule](source)
    new = sorted(place for place in found if found[place] > excused.get(place, 0))
    old = sorted(place for place in excused if excused[place] > found.get(place, 0))
    return [f"{place}: {found[place]}, excused {excused.get(place, 0)}. {RULES[rule].__doc__}" for place in new] + [
        f"{place}: {found.get(place, 0)}, excused {excused[place]}: lower the excuse" for place in old
    ]
