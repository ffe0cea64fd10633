"""The Python files of a tree, from its folder or from a commit, and what their syntax tells: imports and names."""

from __future__ import annotations

import ast
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGES = ("plants", "controllers", "sscq", "flcs", "experiments", "configs", "benchmarks")
TESTS = "tests"
ROOT = Path(__file__).parents[2]

Place = Literal["top", "annotation", "function"]


@dataclass(frozen=True)
class Import:
    """One import of an own module.

    Attributes
    ----------
    module : str
        Dotted name: the submodule where the imported name is one.
    names : tuple of str
        What is taken from it; empty where the module itself is.
    place : {"top", "annotation", "function"}
        At the top of the file, below ``if TYPE_CHECKING``, or in a function.
    line : int
        Of the statement.
    """

    module: str
    names: tuple[str, ...]
    place: Place
    line: int


@dataclass(frozen=True)
class Module:
    """One file: its path [from the tree's root] and its text."""

    path: PurePosixPath
    text: str

    @cached_property
    def name(self) -> str:
        """Dotted name; a package's own file has the package's."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_package(self) -> bool:
        """Whether this is a folder's ``__init__``."""
        return self.path.name == "__init__.py"

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text."""
        return self.text.splitlines()

    @property
    def syntax(self) -> ast.Module:
        """Syntax tree, read anew: keeping a thousand of them costs the garbage collector more than reading."""
        return ast.parse(self.text, str(self.path))

    @cached_property
    def facts(self) -> Facts:
        """What the statements declare."""
        return _facts(self.syntax)

    @cached_property
    def strings(self) -> list[str]:
        """Text constants, docstrings and pieces of formatted texts too."""
        found = (node.value for node in ast.walk(self.syntax) if isinstance(node, ast.Constant))
        return [value for value in found if isinstance(value, str)]


@dataclass(frozen=True)
class Written:
    """An import statement: where it takes names from, dots in front kept (no names: `import x`), its lines."""

    source: str
    names: tuple[str, ...]
    place: Place
    first: int
    last: int


@dataclass(frozen=True)
class Facts:
    """What a file's statements declare: docstring, imports, and the fields of classes (pairs of name and fields)."""

    docstring: str
    imports: tuple[Written, ...]
    classes: tuple[tuple[str, frozenset[str]], ...]


def _facts(syntax: ast.Module) -> Facts:
    imports: list[Written] = []
    classes = []
    for node, place in _placed(syntax, "top"):
        if isinstance(node, ast.Import):
            imports += [Written(alias.name, (), place, node.lineno, node.end_lineno or 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            source = "." * node.level + (node.module or "")
            imports.append(Written(source, names, place, node.lineno, node.end_lineno or 0))
        elif isinstance(node, ast.ClassDef):
            targets = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
            classes.append((node.name, frozenset(one.id for one in targets if isinstance(one, ast.Name))))
    return Facts(ast.get_docstring(syntax) or "", tuple(imports), tuple(classes))


def _placed(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    """All statements, and where they stand, in the order of the file."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, block, ()):
            yield child, place
            inner = place
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = "function"
            elif place == "top" and isinstance(child, ast.If) and _is_name(child.test, "TYPE_CHECKING"):
                inner = "annotation"
            yield from _placed(child, inner)


def _is_name(node: ast.expr, name: str) -> bool:
    return name == (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None))


@dataclass(frozen=True)
class Source:
    """The files of a tree by dotted name: `package` code (of packages and benchmarks), and `tests`."""

    package: Mapping[str, Module]
    tests: Mapping[str, Module]

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """Imports of own modules, by the name of the module that imports."""
        everything = {**self.package, **self.tests}
        return {name: list(self._imports(module, everything)) for name, module in everything.items()}

    def _imports(self, module: Module, known: Mapping[str, Module]) -> Iterator[Import]:
        for written in module.facts.imports:
            source = _absolute(module, written.source)
            if not written.names and source in known:
                yield Import(source, (), written.place, written.first)
            inside = [f"{source}.{name}" for name in written.names]
            yield from (Import(name, (), written.place, written.first) for name in inside if name in known)
            taken = tuple(name for name, full in zip(written.names, inside, strict=True) if full not in known)
            if taken and source in known:
                yield Import(source, taken, written.place, written.first)

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        """For each module of package code the others that it imports, anywhere in the file."""
        return {
            name: {found.module for found in self.imports[name] if found.module in self.package} - {name}
            for name in self.package
        }

    @cached_property
    def inside_functions(self) -> dict[str, list[str]]:
        """For each module of package code the own modules that it imports in functions, in alphabetical order."""
        found = {
            name: {one.module for one in self.imports[name] if one.place == "function" and one.module in self.package}
            for name in self.package
        }
        return {name: sorted(modules) for name, modules in found.items() if modules}

    @cached_property
    def class_names(self) -> dict[str, list[str]]:
        """For each class name of package code the modules that define it, one an entry for each definition."""
        found: dict[str, list[str]] = defaultdict(list)
        for module in self.package.values():
            for name, _ in module.facts.classes:
                found[name].append(module.name)
        return dict(sorted(found.items()))

    @cached_property
    def folders(self) -> dict[str, list[Module]]:
        """Modules of package code by folder, subfolders apart."""
        found: dict[str, list[Module]] = defaultdict(list)
        for module in self.package.values():
            found[str(module.path.parent)].append(module)
        return dict(sorted(found.items()))


def _absolute(module: Module, source: str) -> str:
    name = source.lstrip(".")
    level = len(source) - len(name)
    if not level:
        return name
    parts = module.name.split(".")
    package = parts[: len(parts) - level + module.is_package]
    return ".".join([*package, *([name] if name else [])])


def of_folder(root: Path = ROOT) -> Source:
    """Read the tree in a folder."""
    paths = sorted(path for top in (*PACKAGES, TESTS) for path in (root / top).rglob("*.py"))
    return of_texts({path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths})


def of_revision(revision: str, root: Path = ROOT) -> Source:
    """Read the tree of a commit of the repository in `root`.

    Raises
    ------
    ValueError
        Where git knows no such commit.
    """
    listing = _git(root, "ls-tree", "-r", "--name-only", revision, *PACKAGES, TESTS)
    paths = [path for path in listing.decode().splitlines() if path.endswith(".py")]
    content = _git(root, "cat-file", "--batch", stdin="".join(f"{revision}:{path}\n" for path in paths).encode())
    texts, at = {}, 0
    for path in paths:
        head_end = content.index(b"\n", at)
        size = int(content[at:head_end].split()[-1])
        texts[path] = content[head_end + 1 : head_end + 1 + size].decode()
        at = head_end + size + 2
    return of_texts(texts)


def _git(root: Path, *words: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["git", "-C", str(root), *words], input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"git {words[0]} in {root} failed: {done.stderr.decode().strip()}")
    return done.stdout


def of_texts(texts: Mapping[str, str]) -> Source:
    """Read files from their texts by path, such as ``{"plants/pendulum.py": "..."}``."""
    modules = [Module(PurePosixPath(path), text) for path, text in sorted(texts.items())]
    tests = {module.name: module for module in modules if module.path.parts[0] == TESTS}
    return Source({module.name: module for module in modules if module.name not in tests}, tests)
