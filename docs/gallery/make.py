"""Make the pages of the gallery again: `python docs/gallery/make.py [RUN]`; RUN is a finished design to take over.

What each command writes is copied beside this file. Without RUN the design itself is made first, in a minute or two.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SSCQ = (sys.executable, "-m", "experiments.cli")


def run(folder: Path, *words: str) -> Path:
    """Run a command into a folder."""
    subprocess.run([*SSCQ, *words, f"output={folder}", "quiet=true"], check=True)
    return folder


def copy(page: Path, name: str) -> None:
    """Put a page into the gallery."""
    shutil.copyfile(page, HERE / name)
    print(f"{name}: {page.stat().st_size / 1000:.0f} kB")


def main(given: list[str]) -> None:
    """Make all pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        design = Path(given[0]) if given else run(folder / "design", "design", "budget=small")
        copy(design / "report.html", "report.html")
        kb = f"kb={design / 'knowledge_base_direct.json'}"
        copy(next(run(folder / "living", "export", kb, "to=[html]").glob("**/*.html")), "living.html")
        ranges = ("x=mu:[0.1,3]", "y=delay:[0,0.2]")
        copy(next(run(folder / "map", "map", kb, *ranges).glob("*.html")), "map.html")
        ways = "algebraic_loop=[solved,iterated,loop_free]"
        loops = run(folder / "loops", "simulate", "plant=nonlinear_inertia", ways)
        copy(loops / "report.html", "loops.html")


if __name__ == "__main__":
    main(sys.argv[1:])
