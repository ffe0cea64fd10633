"""The frame: what is installed under which names, pinned versions, and what importing costs."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"sscq", "flcs", "plants", "controllers", "configs", "experiments"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_a_wheel_holds_the_six_packages_and_nothing_else(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in (*PACKAGES, "tests", "docs"):  # the last two must not get in
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir"]
    subprocess.run([*command, str(tmp_path), str(source)], check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("sscq-*.whl"))) as wheel:
        names = set(wheel.namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    data = {".py", ".yaml", ".html", ".css", ".js", ".json", ".md"}
    for package in PACKAGES:
        files = [
            path for path in (ROOT / package).rglob("*") if path.suffix in data and "__pycache__" not in path.parts
        ]
        assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    (entries,) = [name for name in names if name.endswith("entry_points.txt")]
    with zipfile.ZipFile(next(tmp_path.glob("sscq-*.whl"))) as wheel:
        assert "sscq = experiments.cli:main" in wheel.read(entries).decode()


def test_every_requirement_is_pinned():
    pins = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = {word.split(">=")[0] for words in (PROJECT["project"]["dependencies"], *extras) for word in words}
    assert wanted <= pins


def test_the_commit_hooks_and_ci_run_what_a_desk_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    rules = (ROOT / "Makefile").read_text()
    (check,) = [line for line in rules.splitlines() if line.startswith("check:")]
    assert all(f"make {target}" in hooks for target in check.removeprefix("check:").split())
    assert "make check\nmake test" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_importing_a_package_stays_light(package):
    slow = {"torch", "control", "casadi", "matplotlib", "skfuzzy", "deap", "hydra", "sympy"}
    slow |= {"numba", "scipy"} if package == "controllers" else set()
    code = f"import sys, {package}; print(sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
