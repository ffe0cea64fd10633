"""``python -m benchmarks.supply notice | sbom [FILE] | lock``: what the program is built of, written down.

notice
    NOTICE: the licences of all dependencies, from installed metadata.
sbom
    A CycloneDX bill of materials (JSON) of what is needed to run, with versions and licences, from installed metadata.
lock
    requirements.lock: the published packages of what is needed to run on this platform, each with its hash, as pip
    resolves them with constraints.txt; nothing is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.supply.components import ROOT, closure, requirements
from plants.core import atomic_files

if TYPE_CHECKING:
    from benchmarks.supply.components import Component

_EXTRAS = ("adapters", "assurance", "cluster", "exports", "plot")
_HEAD = """\
sscq
Copyright the authors of sscq. Licensed under the Apache License 2.0 (LICENSE).

Nothing of other packages is part of this one: they are installed beside it, each under its own licence. Those marked
with * are under a copyleft licence: it concerns whoever passes these packages on, not what is designed with them.
Made by `make supply` from the packages' own metadata.
"""


def notice() -> str:
    """Return the text of NOTICE."""
    needed = closure(requirements())
    parts = [("Needed to run", needed)]
    known = {one.name for one in needed}
    for extra in _EXTRAS:
        more = [one for one in closure(requirements(extra)) if one.name not in known]
        known |= {one.name for one in more}
        parts.append((f"With the extra {extra!r}", more))
    return "\n".join(
        [_HEAD, *("\n".join([title, "-" * len(title), *map(_line, several), ""]) for title, several in parts)]
    )


def _line(one: Component) -> str:
    mark = "*" if one.copyleft else " "
    return f"{mark} {one.name}: {one.licence}{f' ({one.page})' if one.page else ''}"


def bill(version: str) -> dict[str, Any]:
    """Return the CycloneDX document of what is needed to run a version of the program."""
    several = closure(requirements())
    direct = {one.partition(">")[0].strip() for one in requirements()}
    own = f"pkg:pypi/sscq@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "sscq",
                "version": version,
                "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": [_entry(one) for one in several],
        "dependencies": [
            {"ref": own, "dependsOn": [_purl(one) for one in several if one.name.lower() in direct]},
            *({"ref": _purl(one), "dependsOn": [_purl(o) for o in several if _key(o) in one.needs]} for one in several),
        ],
    }


def _entry(one: Component) -> dict[str, Any]:
    page = {"externalReferences": [{"type": "website", "url": one.page}]} if one.page else {}
    licences = [{"license": {"name": one.licence}}]
    ways = {"type": "library", "bom-ref": _purl(one), "name": one.name, "version": one.version, "purl": _purl(one)}
    return {**ways, "licenses": licences, **page}


def _key(one: Component) -> str:
    return one.name.lower().replace("_", "-").replace(".", "-")


def _purl(one: Component) -> str:
    return f"pkg:pypi/{_key(one)}@{one.version}"


def lock() -> str:
    """Return the lock file: the packages of the public index that pip would install, with their hashes."""
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_CONSTRAINT": ""}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--ignore-installed",
            "--quiet",
        ]
        command += ["--report", str(report), "-c", str(ROOT / "constraints.txt"), *requirements()]
        subprocess.run(command, check=True, env=environment)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    pairs = sorted((one["metadata"]["name"].lower(), one) for one in found)
    lines = [
        f"{name}=={one['metadata']['version']} --hash=sha256:{one['download_info']['archive_info']['hashes']['sha256']}"
        for name, one in pairs
    ]
    return "\n".join([_LOCK, *lines, ""])


_LOCK = """\
# The published packages (CPython 3.11, Linux x86-64) of all that is needed to run, each with its hash (`make lock`):
#     pip install --require-hashes -r requirements.lock && pip install --no-deps sscq-VERSION.whl
# constraints.txt has no hashes: with one in it, pip refuses to install a folder (-e .) and local builds of torch."""


def main(words: list[str]) -> None:
    """Write what is asked for."""
    if words[:1] == ["notice"]:
        atomic_files.write(ROOT / "NOTICE", notice())
    elif words[:1] == ["sbom"]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        place = Path(words[1]) if len(words) > 1 else ROOT / "dist" / f"sscq-{project['version']}.cdx.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic_files.write(place, json.dumps(bill(project["version"]), indent=1) + "\n")
        print(place)
    elif words[:1] == ["lock"]:
        atomic_files.write(ROOT / "requirements.lock", lock())
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
