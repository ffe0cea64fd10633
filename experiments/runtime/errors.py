"""What a user may have caused is said in one sentence; what is our own defect keeps its traceback.

``SSCQ_TRACEBACK=1`` shows the traceback of everything.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

USER_ERROR, INTERRUPTED = 2, 130  # exit codes

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST = 2000  # characters of a message that quotes a file
_PACKAGES = {"plants", "controllers", "sscq", "flcs", "configs", "experiments"}
_user_files: set[str] = set()


class UserError(ValueError):
    """Something given by the user cannot be used; the message says what was expected, what came, what to do."""


def add_user_file(path: Path | str) -> None:
    """Count every error raised inside this file as the user's."""
    _user_files.update({str(path), str(Path(path).resolve())})


def is_users(error: BaseException) -> bool:
    """Whether the user can mend what went wrong.

    These are: ValueError and OSError, errors of a class defined in this project, and anything raised in a user's file.
    """
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, ValueError | OSError) or package in _PACKAGES or _user_place(error) is not None


def sentence(error: BaseException) -> str:
    """Return what to tell the user: the message, cut where it is long, with the place if it is in the user's file."""
    said = _whole_sentence(error)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} ... ({len(said)} characters)"


def _whole_sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror[:1].lower() + error.strerror[1:]
        return reason if error.filename is None else f"{reason}: {error.filename}"
    words = error.args[0] if isinstance(error, KeyError) and error.args else error
    place = _user_place(error)
    kind = "" if isinstance(error, UserError | ValueError) else f"{type(error).__name__}: "
    return f"{place}: {kind}{words}" if place else str(words)


def _user_place(error: BaseException) -> str | None:
    """Where in the user's own file the error came from: the innermost line of it, if it is the innermost of all."""
    frames = list(_frames(error))
    if not frames or frames[-1][0].f_code.co_filename not in _user_files:
        return None
    frame, line = frames[-1]
    return f"{Path(frame.f_code.co_filename).name}, line {line}"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _raised_elsewhere(error: BaseException) -> str | None:
    """Return the library in which a ValueError arose, if that is not this project: then it may be our defect."""
    frames = list(_frames(error))
    name = str(frames[-1][0].f_globals.get("__name__", "")) if frames else ""
    package = name.partition(".")[0]
    ours = package in _PACKAGES | {"", "__main__"} or _user_place(error) is not None
    return None if ours or isinstance(error, OSError) else package


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn errors of the user into ``error: ...`` on standard error and exit code 2; use as a context or decorator.

    Ctrl-C exits with 130 and says what the interrupted part noted (`BaseException.add_note`), such as how to go on.
    """
    try:
        with plain_warnings():
            yield
    except KeyboardInterrupt as error:
        tell("interrupted", *getattr(error, "__notes__", ()))
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has left: nothing to flush
        raise SystemExit(USER_ERROR) from None
    except Exception as error:
        if os.environ.get("SSCQ_TRACEBACK") == "1" or not is_users(error):
            raise
        library = _raised_elsewhere(error)
        hint = [f"(raised in {library}; SSCQ_TRACEBACK=1 shows the way there)"] if library else []
        tell(f"error: {sentence(error)}", *getattr(error, "__notes__", ()), *hint)
        raise SystemExit(USER_ERROR) from None


def tell(*lines: str) -> None:
    """Print lines on standard error, after what has been printed before.

    Signs that would steer a terminal are written out: lines quote what stands in files.
    """
    sys.stdout.flush()
    print(*(_STEERING.sub(lambda sign: ascii(sign[0])[1:-1], line) for line in lines), sep="\n", file=sys.stderr)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings as ``warning: message``, each message once, without the line of source they came from."""
    shown, told = warnings.showwarning, set[str]()

    def show(
        message: Warning | str,
        category: type[Warning],  # noqa: ARG001  (the signature of warnings.showwarning)
        filename: str,  # noqa: ARG001
        lineno: int,  # noqa: ARG001
        file: TextIO | None = None,
        line: str | None = None,  # noqa: ARG001
    ) -> None:
        if str(message) not in told:  # what a plant's start is warned of, each of its many runs would tell again
            told.add(str(message))
            print(f"warning: {message}", file=file or sys.stderr)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
