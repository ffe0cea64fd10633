"""What a traced number refuses: it has no value yet, so nothing can be decided by it or computed elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

if TYPE_CHECKING:
    from types import FrameType

_HERE = Path(__file__).resolve().parent
_REMEDY = "use where(condition, a, b): it gives a where condition > 0, else b"


class TracingError(TypeError):
    """A block did something with a traced number that has no straight-line form."""


def _user_line() -> str:
    """File and line of the innermost frame outside this folder and NumPy: where the block's author can act."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  (the only way to name the line without a traceback)
    while frame is not None and (
        Path(frame.f_code.co_filename).resolve().parent == _HERE
        or frame.f_globals.get("__name__", "").partition(".")[0] == "numpy"
    ):
        frame = frame.f_back
    if frame is None:
        return "unknown line"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def refuse(what: str, remedy: str = _REMEDY) -> NoReturn:
    """Raise a :class:`TracingError` that names the user's line."""
    message = f"{_user_line()}: {what} of a traced number; {remedy}"
    raise TracingError(message)


class Undecided:
    """A number that is compared with nothing, has no truth value and is no plain number.

    Attributes
    ----------
    CONVERTED : str
        What to do instead of a conversion to a plain number.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    CONVERTED: ClassVar[str]

    def _compared(self, *_: object) -> NoReturn:
        refuse("comparison")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __bool__(self) -> NoReturn:  # noqa: PLE0304  (there is no truth value to return)
        refuse("truth value (if, and, or, not, while, min, max, sorted)")

    def _converted(self, *_: object) -> NoReturn:
        refuse("conversion to a plain number", self.CONVERTED)

    __float__ = __int__ = __index__ = __complex__ = __round__ = __floor__ = __ceil__ = __trunc__ = _converted
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = _converted
