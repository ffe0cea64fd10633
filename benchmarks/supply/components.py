"""Installed packages that the program needs, with their licences, from the metadata that they bring along."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
_CLASSIFIER = "License :: OSI Approved :: "
_LONGEST = 60  # characters: beyond, the field holds the licence's text
_SHORT = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL-3.0-only",
}


@dataclass(frozen=True)
class Component:
    """One installed package.

    Attributes
    ----------
    name, version, licence, page : str
        As its metadata say; the page is empty where they name none.
    needs : tuple of str
        Names of the packages that it needs, of those that are installed.
    """

    name: str
    version: str
    licence: str
    page: str
    needs: tuple[str, ...]

    @property
    def copyleft(self) -> bool:
        """Whether its licence asks for more than to be named where the package is passed on."""
        return bool(re.search(r"GPL|MPL|EPL|EUPL|CDDL", self.licence))


def requirements(extra: str | None = None) -> list[str]:
    """Return what pyproject.toml asks for: to run, or by one of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: list[str] = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return found


def closure(wanted: list[str]) -> list[Component]:
    """Return the installed packages that requirements need, and those that these need, by name.

    Raises
    ------
    ModuleNotFoundError
        If one of the requirements themselves is not installed.
    """
    found: dict[str, Component] = {}
    open_ones = [Requirement(text).name for text in wanted]
    for name in open_ones:
        if not _installed(name):
            raise ModuleNotFoundError(f"{name} is not installed: `make venv` installs what the project needs")
    while open_ones:
        key = canonicalize_name(open_ones.pop())
        if key not in found and _installed(key):
            found[key] = _component(key)
            open_ones += found[key].needs
    return [found[key] for key in sorted(found)]


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _component(name: str) -> Component:
    told = metadata.metadata(name)
    needs = []
    for text in metadata.requires(name) or ():
        one = Requirement(text)
        if (one.marker is None or one.marker.evaluate({"extra": ""})) and _installed(one.name):
            needs.append(canonicalize_name(one.name))
    return Component(told["Name"], told["Version"], licence(told), _page(told), tuple(sorted(set(needs))))


def licence(told: metadata.PackageMetadata) -> str:
    """Return the licence that a package's metadata name: its expression, its short field, or its classifiers."""
    expression, field = told.get("License-Expression"), (told.get("License") or "").strip()
    field = "" if field == "UNKNOWN" else field  # what old tools write where nothing was said
    if expression:
        return str(expression)
    if field and len(field) <= _LONGEST and "\n" not in field:
        return field
    named = [
        text.removeprefix(_CLASSIFIER) for text in told.get_all("Classifier") or () if text.startswith(_CLASSIFIER)
    ]
    return " AND ".join(_SHORT.get(text, text) for text in named) or "not named in its metadata"


def _page(told: metadata.PackageMetadata) -> str:
    if told.get("Home-page") and "pypi" not in told["Home-page"]:  # a registry's page is none of the project's
        return str(told["Home-page"])
    pages = dict(text.split(", ", 1) for text in told.get_all("Project-URL") or ())
    for label in ("Homepage", "homepage", "Source", "Repository", "Documentation"):
        if label in pages:
            return pages[label]
    return next(iter(pages.values()), "")
