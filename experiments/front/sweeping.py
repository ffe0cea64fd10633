"""`sscq.sweep`: a design for every combination of some settings, on whatever runs functions side by side.

The folder is that of ``sscq design -m``: ``sscq design resume=FOLDER`` goes on with it, too.
"""

from __future__ import annotations

import functools
import itertools
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from configs import store
from configs.rules import session_keys
from experiments import design as command
from experiments.front.result import DesignResult
from experiments.front.words import check_settings, spelt, words_of
from experiments.report import sweep_summary
from experiments.report.drawing.html import element
from experiments.runtime.errors import USER_ERROR, UserError, is_users
from experiments.runtime.progress import ProgressNote
from experiments.starting import sweep as folders
from experiments.starting.config_errors import readable_errors
from experiments.starting.opening import composed, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_OWN = {"output": "folder", "resume": "", "quiet": ""}


class Future(Protocol):
    """What an executor gives for a call that it was handed."""

    def result(self) -> Any:
        """Return what the call returned, once it is over."""


class Executor(Protocol):
    """What runs calls side by side: a pool of concurrent.futures, a Client of Dask, an executor of submitit, ..."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future:
        """Begin a call of a function that can be imported, with plain arguments."""


@dataclass(frozen=True)
class SweptDesign:
    """One design of a sweep.

    Attributes
    ----------
    settings : mapping
        What this one has of the settings that differ.
    result : DesignResult or None
        None where it came to nothing.
    reason : str
        Why; "" of a finished one.
    """

    settings: Mapping[str, Any]
    result: DesignResult | None
    reason: str


@dataclass(frozen=True)
class DesignSweep:
    """What a sweep came to.

    Attributes
    ----------
    folder : Path
        With one run folder for each design, and ``summary.csv``.
    designs : tuple of SweptDesign
        In the order of the combinations; the last setting changes fastest.
    """

    folder: Path
    designs: tuple[SweptDesign, ...]

    @property
    def results(self) -> list[DesignResult]:
        """The finished designs."""
        return [one.result for one in self.designs if one.result is not None]

    @property
    def failed(self) -> list[SweptDesign]:
        """Those that came to nothing."""
        return [one for one in self.designs if one.result is None]

    def table(self) -> str:
        """Return a row for each finished design: what is recommended, its fitness, IAE and travel where not taught."""
        return sweep_summary.table(self._rows())

    def to_pandas(self) -> Any:
        """Return the rows of ``summary.csv`` as a data frame, with a column for each setting that differs."""
        import pandas as pd

        given = [dict(one.settings) for one in self.designs if one.result is not None]
        rows = [{key: value for key, value in row.items() if key != "settings"} for row in self._rows()]
        return pd.DataFrame([own | row for own, row in zip(given, rows, strict=True)])

    def _rows(self) -> list[dict[str, Any]]:
        return sweep_summary.rows([one.folder for one in self.results])

    def __repr__(self) -> str:
        """As in ``<DesignSweep runs/mine: 10 designs, 2 failed>``."""
        lost = len(self.failed)
        return f"<DesignSweep {self.folder}: {len(self.results)} designs{f', {lost} failed' if lost else ''}>"

    def _repr_html_(self) -> str:
        """The table, and what failed."""
        told = [f"{_told(one.settings)}: {one.reason}" for one in self.failed]
        return element("pre", "\n".join([self.table(), *told]))


def sweep(
    over: Mapping[str, Sequence[Any]],
    *,
    folder: str | Path,
    settings: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[ProgressNote], object] | None = None,
) -> DesignSweep:
    """Design a controller for every combination of some settings; one that fails ends none of the others.

    What the folder holds already is read back, what was stopped goes on, what failed begins anew: the same call again
    finishes a sweep that was killed. ``sscq design resume=FOLDER`` does so too.

    Parameters
    ----------
    over : mapping of setting to sequence
        ``{"plant": ["fopdt", "duffing"], "seed": range(3)}``: settings of ``sscq design`` by their dotted names, with
        the values of each.
    folder : path
        Of the sweep; all workers must see it.
    settings : mapping, optional
        Settings that all designs share. The budget is "small" if nobody says otherwise.
    executor : optional
        What runs the designs side by side: anything with ``submit(function, *arguments)`` that returns futures, such as
        ``concurrent.futures.ProcessPoolExecutor(4)``, ``dask.distributed.Client(...)`` or submitit's ``AutoExecutor``.
        Each design then has one thread, unless ``settings["threads"]`` says how many. Left out, they run one after
        another, here, each with all processors.
    on_progress : callable, optional
        Takes a :class:`experiments.runtime.progress.ProgressNote` whenever a design is over.

    Returns
    -------
    DesignSweep

    Raises
    ------
    ValueError, TypeError, UserError
        For settings that there are not, before anything runs, and where the folder is of another sweep.
    KeyboardInterrupt
        Of Ctrl-C: designs that have not begun are taken back, and a note says how to go on.

    Notes
    -----
    Workers know the project's own plants; a plant of yours they know by its file, ``{"plant_file": "/me/tank.py"}``.
    Without an executor a registered name does.

    Examples
    --------
    >>> with concurrent.futures.ProcessPoolExecutor(4) as pool:
    ...     found = sscq.sweep({"plant": ["fopdt", "duffing"], "seed": range(3)}, folder="runs/mine", executor=pool)
    >>> print(found.table())
    """
    place, combinations = Path(folder).resolve(), _combinations(over)
    shared = {"budget": "small"} | dict(settings or {})
    shared = {key: value for key, value in shared.items() if key not in over}
    check_settings(shared | dict(over), "sweep", _OWN)
    jobs = [words_of(shared | own) for own in combinations]
    with readable_errors("design", store.SCHEMAS["design"]):
        composed("design", jobs[0])  # a setting that there is not is told at once, not once for each design
    of_session = session_keys(store.SCHEMAS["design"])
    _begin(place, [*words_of({k: v for k, v in shared.items() if k not in of_session}), *_swept(over)])
    session = ["quiet=true"] if executor is None or "threads" in shared else ["quiet=true", "threads=1"]
    calls = [functools.partial(designed, [*words, *session], str(place / str(k))) for k, words in enumerate(jobs)]
    with _noted(place):
        _run(calls, executor, on_progress, [_told(own) for own in combinations])
    return _found(place, combinations)


def designed(words: Sequence[str], place: str) -> float:
    """Run one design of a sweep, or go on with it; return its fitness, infinite where it came to nothing.

    Parameters
    ----------
    words : sequence of str
        Overrides of ``sscq design``.
    place : str
        The run folder, inside that of the sweep.
    """
    return folders.attempt(Path(place), words, functools.partial(_value, list(words), Path(place)))


def _value(words: list[str], place: Path) -> float:
    job = functools.partial(command.design, show=False)
    try:
        with readable_errors("design", store.SCHEMAS["design"]):
            asked = composed("design", words)
        return command.value(run("design", job, command.check, asked, words, sweep=place))
    except Exception as error:
        if is_users(error):
            raise SystemExit(USER_ERROR) from error  # noted with the sweep, without a traceback
        raise


def _combinations(over: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    values = {key: list(some) if not isinstance(some, str) else [] for key, some in over.items()}
    empty = next((key for key, some in values.items() if not some), None)
    if not values or empty is not None:
        raise UserError(
            f"over must name settings with a list of values each, as in {{'seed': [0, 1, 2]}}; got {dict(over)!r}"
        )
    return [dict(zip(values, some, strict=True)) for some in itertools.product(*values.values())]


def _swept(over: Mapping[str, Sequence[Any]]) -> list[str]:
    """The varied settings as the words of a command."""
    return [f"{key}={','.join(spelt(one, key) for one in some)}" for key, some in over.items()]


def _begin(place: Path, words: Sequence[str]) -> None:
    """Keep what the sweep was asked for; refuse the folder of another one."""
    words = ["-m", *words, f"hydra.sweep.dir={place}"]
    begun = folders.begun_with(place)
    if begun is not None and begun != words:
        raise UserError(
            f"{place} holds a sweep with other settings; give that call again, or choose another folder: it was begun "
            f"with {' '.join(begun)}"
        )
    folders.begin(place, "design", words)


@contextmanager
def _noted(place: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        error.add_note(f"the same call goes on with it, or: sscq design resume={place}")
        raise


def _run(
    calls: Sequence[functools.partial[float]],
    executor: Executor | None,
    on_progress: Callable[[ProgressNote], object] | None,
    names: Sequence[str],
) -> None:
    begun, futures = time.monotonic(), []
    try:
        futures = [executor.submit(one.func, *one.args) for one in calls] if executor is not None else []
        for done, (call, name) in enumerate(zip(calls, names, strict=True), 1):
            if executor is None:
                call()
            else:
                futures[done - 1].result()
            if on_progress is not None:
                left = (time.monotonic() - begun) * (len(calls) - done) / done
                on_progress(ProgressNote(done / len(calls), left, f"design {done} of {len(calls)} is over: {name}"))
    except BaseException:
        for future in futures:
            getattr(future, "cancel", lambda: None)()  # those that have begun end by themselves
        raise


def _found(place: Path, combinations: Sequence[Mapping[str, Any]]) -> DesignSweep:
    reasons = {number: reason for number, _, reason in folders.failures(place)}
    designs = tuple(
        SweptDesign(own, None if str(k) in reasons else DesignResult(place / str(k)), reasons.get(str(k), ""))
        for k, own in enumerate(combinations)
    )
    found = DesignSweep(place, designs)
    if found.results:
        sweep_summary.write(sweep_summary.rows([one.folder for one in found.results]), place)
    return found


def _told(settings: Mapping[str, Any]) -> str:
    return " ".join(words_of(settings))
