"""What is the user's is said in a sentence; what is our own defect keeps its traceback."""

import json
import warnings

import pytest

from experiments.runtime.errors import UserError, add_user_file, plain_warnings, user_errors
from plants.core.tracing.tape import TracingError


def said(capsys, error):
    """Return what is said when an error is raised here."""
    with pytest.raises(SystemExit) as stop, user_errors():
        raise error
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (UserError("no plant 'x'"), "error: no plant 'x'\n"),
        (TracingError("use where(condition, a, b)"), "error: use where(condition, a, b)\n"),
        (FileNotFoundError(2, "No such file or directory", "kb.json"), "error: no such file or directory: kb.json\n"),
        (PermissionError(13, "Permission denied", "runs"), "error: permission denied: runs\n"),
        (OSError("disk on fire"), "error: disk on fire\n"),
    ],
)
def test_errors_of_the_user_are_sentences(capsys, error, words):
    assert said(capsys, error).startswith(words)


@pytest.mark.parametrize("error", [TypeError("a defect"), KeyError("a defect"), RuntimeError("a defect")])
def test_defects_pass_through(error):
    with pytest.raises(type(error), match="a defect"), user_errors():
        raise error


def test_a_value_error_from_a_library_tells_where_to_look(capsys):
    with pytest.raises(SystemExit), user_errors():
        json.loads("{")
    assert "(raised in json; SSCQ_TRACEBACK=1 shows the way there)" in capsys.readouterr().err


def test_anything_raised_in_a_users_file_is_the_users(capsys, tmp_path):
    file = tmp_path / "my_plant.py"
    file.write_text("def derivative(t, x, u, w, p):\n    return x[7]\n")
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    with pytest.raises(IndexError), user_errors():
        space["derivative"](0.0, (1.0,), (), (), ())
    add_user_file(file)
    with pytest.raises(SystemExit), user_errors():
        space["derivative"](0.0, (1.0,), (), (), ())
    assert capsys.readouterr().err == "error: my_plant.py, line 2: IndexError: tuple index out of range\n"


def test_warnings_are_shown_once_and_without_source(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with plain_warnings():
            for _ in range(2):
                warnings.warn("this fitness picks useless controllers", stacklevel=1)
    assert capsys.readouterr().err == "warning: this fitness picks useless controllers\n"
