"""Write down which versions of the site lie beside one another: `python docs/_extensions/versions.py FOLDER`.

A version is a folder with an `index.html`. Pages read the list as a script, which works from a file system as well.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_START = """\
<!doctype html><meta charset="utf-8"><title>sscq</title>
<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">sscq {0}</a>
"""


def versions(folder: Path) -> list[str]:
    """Return the versions in a folder, the newest first."""
    found = [page.parent.name for page in folder.glob("*/index.html")]
    return sorted(
        found,
        key=lambda name: [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name.split(".")],
        reverse=True,
    )


def write(folder: Path) -> None:
    """Write `versions.js`, and an `index.html` that leads to the newest version."""
    found = versions(folder)
    (folder / "versions.js").write_text(f"window.SITE_VERSIONS = {json.dumps(found)};\n", encoding="utf-8")
    (folder / "index.html").write_text(_START.format(found[0]), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
