"""The tab key: a shell that executed the script completes settings and their values, and does not wait for it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import cli, design
from experiments.starting import completion

SHELL = """
eval "$(sscq completion bash)"
COMP_LINE={line}; COMP_POINT={point}; COMP_TYPE=9; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_python_argcomplete sscq
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(line, cursor=None):
    """Return what bash offers where the cursor stands in a line, by the function that the tab key calls."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    text = SHELL.format(line=shlex.quote(line), point=len(line) if cursor is None else cursor)
    done = subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=True
    )
    return [word.strip() for word in done.stdout.split("\n") if word.strip()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sscq des", ["design"]),
        ("sscq design plant=pen", ["pendulum"]),
        ("sscq design plant=unicycle:b", ["balanced"]),
        ("sscq simulate t_end=5 plant=mag", ["magnetic_levitation"]),
        ("sscq design sta", ["start="]),
        ("sscq design budget=", ["large", "medium", "small", "standard"]),
        ("sscq design controller.act", ["controller.action="]),
        ("sscq design controller.action=", ["direct", "reverse"]),
        ("sscq design quiet=t", ["true"]),
        ("sscq plants van", ["van_der_pol"]),
        ("sscq certify --s", ["--sets"]),
    ],
)
def test_bash_completes(line, expected):
    assert completed(line) == expected


def test_what_stands_behind_the_cursor_does_not_count():
    assert completed("sscq design plant=pen seed=1", len("sscq design plant=pen")) == ["pendulum"]


@pytest.mark.parametrize("command", ["design", "simulate", "evaluate", "worst", "export"])
def test_every_command_of_settings_completes_its_own(command):
    names = completion.completions(command, "")
    assert {"output=", "quiet="} <= set(names)
    assert len([name for name in names if name.endswith(".")]) < len(names)


def test_a_part_is_offered_as_a_whole_until_it_is_the_only_one():
    names = completion.completions("design", "")
    assert {"controller.", "controller="} <= set(names)
    assert "controller.limits=" not in names
    assert "controller.limits=" in completion.completions("design", "controller.")
    assert completion.completions("design", "controller.action=x") == [
        "controller.action=direct",
        "controller.action=reverse",
    ]
    assert completion.completions("design", "no_such=") == []


def test_completing_imports_nothing_slow():
    code = """if True:
        import sys
        from experiments.starting import completion
        for prefix in ("", "plant=pen", "budget=", "controller.action="):
            completion.completions("design", prefix)
        print(sorted({"torch", "llvmlite", "numba", "hydra", "scipy.optimize", "symengine"} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_hydras_flag_prints_the_same_script(capsys, refused):
    cli.main(["completion", "bash"])
    ours = capsys.readouterr().out
    design.main(["-sc", "install=bash"])
    assert capsys.readouterr().out == ours
    assert "`sscq completion bash` prints the script" in refused("design", "-sc", "query=bash")
    assert "no shell 'bsh'; did you mean 'bash'?" in refused("completion", "bsh")
