"""The figures of a tree: sizes, fragments, circles, names, and what is written by hand or twice."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from benchmarks.structure.graphs import circles, neighbours, reached
from benchmarks.structure.source import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.structure.source import Module, Source

FULLEST = 5
SMALL, LARGE = 60, 400  # lines
FAMILY = 3  # files


def measures(source: Source) -> dict[str, str]:
    """Return each figure as text, by what it says."""
    return {what: measure(source) for what, measure in MEASURES.items()}


def _number(value: int) -> str:
    return f"{value:,}".replace(",", " ")


def _lines(modules: Iterable[Module]) -> int:
    return sum(len(module.lines) for module in modules)


def _files_and_lines(modules: Iterable[Module]) -> str:
    known = list(modules)
    return f"{_number(len(known))} / {_number(_lines(known))}"


def _of_packages(source: Source) -> str:
    files = {top: [module for module in source.package.values() if module.path.parts[0] == top] for top in PACKAGES}
    return ", ".join(f"{top} {_number(_lines(modules))}" for top, modules in files.items())


def _fullest(source: Source) -> str:
    sizes = sorted(((-len(modules), folder) for folder, modules in source.folders.items()))[:FULLEST]
    return ", ".join(f"{folder} {-size}" for size, folder in sizes)


def _one_user(source: Source) -> str:
    """Files that one other file imports; a package's `__init__`, which hands names on, is no user and no such file."""
    users: dict[str, list[Module]] = defaultdict(list)
    for name, others in source.graph.items():
        if not source.package[name].is_package:
            for other in others:
                users[other].append(source.package[name])
    known = [(source.package[name], found[0]) for name, found in users.items() if len(found) == 1]
    alone = [(module, user) for module, user in known if not module.is_package]
    near = sum(module.path.parent == user.path.parent for module, user in alone)
    return f"{len(alone)} ({_number(_lines(module for module, _ in alone))} lines), {near} in the same folder"


def _circles(source: Source) -> str:
    near = [group for graph in neighbours(source.graph).values() for group in circles(graph)]
    return " / ".join(_sizes(found) for found in (circles(source.graph), near))


def _sizes(groups: list[list[str]]) -> str:
    largest = sorted((len(group) for group in groups), reverse=True)[:3]
    return f"{len(groups)} (members {', '.join(map(str, largest))})" if groups else "0"


def _repeated_names(source: Source) -> str:
    number = {name: len(places) for name, places in source.class_names.items()}
    often = sorted((name for name in number if number[name] > 1), key=lambda name: (-number[name], name))
    first = ", ".join(f"{name} {number[name]}" for name in often[:4])
    return f"{len(often)} of {len(number)}" + (f" ({first})" if often else "")


def _unreached(source: Source) -> str:
    lost = unreached(source)
    outside = [module for module in lost if module.path.parts[1] != "studies"]
    return f"{_files_and_lines(lost)}; outside studies {_files_and_lines(outside)}"


def unreached(source: Source) -> list[Module]:
    """Return the modules of `experiments` that no word of the command ``sscq`` leads to.

    Commands are the modules beside `experiments.cli` that it names; from there imports are followed, and texts that
    are a module's name.
    """
    package = source.package
    own = {name: module for name, module in package.items() if module.path.parts[0] == "experiments"}
    graph = {name: source.graph[name] | (package.keys() & module.strings) for name, module in own.items()}
    roots = {"experiments.cli", *(f"experiments.{word}" for word in package["experiments.cli"].strings)}
    found = reached(roots & package.keys(), graph)
    found |= {".".join(name.split(".")[:end]) for name in found for end in range(1, name.count(".") + 1)}
    return [module for name, module in own.items() if name not in found]


def _tables(source: Source) -> str:
    modules = [module for module in source.package.values() if _has_rule(module.text)]
    number = [sum(map(_has_rule, module.strings)) for module in modules]
    return f"{sum(number)} in {sum(map(bool, number))} files"


def _has_rule(text: str) -> bool:
    return "|---" in text or "| ---" in text


def _settings(source: Source) -> str:
    """Fields of schemas that a class of the packages has too, where it has at least half of them."""
    schemas: dict[str, frozenset[str]] = {}
    classes: dict[str, frozenset[str]] = {}
    for module in source.package.values():
        top = module.path.parts[0]
        if top in {"configs", "plants", "controllers", "sscq", "flcs"}:
            found = schemas if top == "configs" else classes
            found |= {f"{module.name}.{name}": fields for name, fields in module.facts.classes}
    filled: dict[str, tuple[int, int]] = {}
    for declared in schemas.values():
        best = max(classes, key=lambda name: len(classes[name] & declared), default="")
        shared = len(classes.get(best, frozenset()) & declared)
        if 2 * shared >= max(1, len(declared)):
            filled[best] = max(filled.get(best, (0, 0)), (shared, len(declared)))
    return f"{sum(shared for shared, _ in filled.values())} of {sum(number for _, number in filled.values())}"


def _unformatted(source: Source) -> str:
    return _number(unformatted(source))


def unformatted(source: Source) -> int:
    """Return the number of places that the formatter must leave alone."""
    return sum("# fmt: skip" in line for module in source.package.values() for line in module.lines)


def _import_lines(source: Source) -> str:
    imports = annotations = 0
    for module in source.package.values():
        spans = {(written.first, written.last) for written in module.facts.imports}
        imports += sum(last - first + 1 for first, last in spans)
        annotations += sum(line.startswith("if TYPE_CHECKING") for line in module.lines)
    return f"{_number(imports)} / {_number(annotations)}"


def _inside_functions(source: Source) -> str:
    number: dict[str, int] = defaultdict(int)
    for name, modules in source.inside_functions.items():
        number[name.split(".")[0]] += len(modules)
    parts = ", ".join(f"{top} {number[top]}" for top in PACKAGES if number[top])
    return f"{sum(number.values())}" + (f" ({parts})" if parts else "")


def _prefixes(source: Source) -> str:
    found = families(source)
    return f"{len(found)} families, {sum(map(len, found.values()))} files"


def families(source: Source) -> dict[str, list[str]]:
    """Return the files of a folder whose names begin with one word, where they are three or more.

    By folder and word, such as ``{"sscq/step": ["step_rules", ...]}``.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for folder, modules in source.folders.items():
        for module in modules:
            if not module.is_package:
                found[f"{folder}/{module.path.stem.split('_')[0]}"].append(module.path.stem)
    return {prefix: names for prefix, names in found.items() if len(names) >= FAMILY and not prefix.endswith("/")}


def _small_and_large(source: Source) -> str:
    sizes = [len(module.lines) for module in source.package.values() if not module.is_package]
    return f"{sum(size < SMALL for size in sizes)} / {sum(size > LARGE for size in sizes)}"


MEASURES: dict[str, Callable[[Source], str]] = {
    "package code without tests: files / lines": lambda source: _files_and_lines(source.package.values()),
    "lines by package": _of_packages,
    "tests: files / lines": lambda source: _files_and_lines(source.tests.values()),
    "files in the fullest folders": _fullest,
    "files that exactly one other file imports": _one_user,
    "circles among files / among neighbours, folders too (annotations counted)": _circles,
    "class names used for two or more things": _repeated_names,
    "code of experiments that no command reaches: files / lines": _unreached,
    "places that write a Markdown table by hand": _tables,
    "settings declared in a schema and in the class that it fills": _settings,
    "`# fmt: skip`": _unformatted,
    "lines of imports / `if TYPE_CHECKING`": _import_lines,
    "own modules imported inside functions": _inside_functions,
    "three or more files of a folder with one first word": _prefixes,
    f"files below {SMALL} / above {LARGE} lines": _small_and_large,
}
