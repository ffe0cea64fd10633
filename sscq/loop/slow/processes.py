"""Processes that hold slow plants: started when they are needed, replaced after some rollouts.

Other packages' programs leak, crash, hang and keep global state; a process of its own keeps that away from the loop,
and its end gives everything back: what it takes of time and memory is limited, and its temporary files go with it.
Processes are spawned: they share nothing with the one that asks. A process holds sessions and moves them when it is
told to. A message is a letter and what follows: plain text (JSON) or numbers as bytes; nothing sent is executed.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import shutil
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plants.core.slow import LostError, opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from plants.core.slow import SlowPlant, SlowSession

    Array = NDArray[np.float64]
    Starts = Sequence[Mapping[str, Any]]


START, STEP, STOP, DONE, WRONG = b"s", b"t", b"q", b"d", b"w"


class Sessions:
    """The sessions of one process; they are opened once and start anew with every rollout."""

    def __init__(self, opener: str, settings: Mapping[str, Any], n_states: int) -> None:
        self.opener, self.settings, self.n_states = opener, settings, n_states
        self._all: list[SlowSession] = []
        self._lost: list[bool] = []

    def start(self, starts: Sequence[Mapping[str, Any]]) -> Array:
        """Return the states [n, n_x] of rollouts that begin with given parameters and initial states."""
        while len(self._all) < len(starts):
            self._all.append(opened(self.opener, self.settings))
        self._lost = [False] * len(starts)
        pairs = zip(self._all, starts, strict=False)
        return self._states([s.start(g["parameters"], g["initial"]) for s, g in pairs])

    def step(self, t: float, h: float, driven: Array, n_inputs: int) -> Array:
        """Return the states [n, n_x] after a step with inputs and disturbances [n, n_u + n_w]; NaN: lost, or skipped.

        A row of NaN asks for no step: that rollout is over.
        """
        moved = []
        for k, row in enumerate(driven.tolist()):
            self._lost[k] = self._lost[k] or math.isnan(row[0])
            try:
                states = None if self._lost[k] else self._all[k].step(t, row[:n_inputs], row[n_inputs:], h)
            except LostError:
                self._lost[k], states = True, None
            moved.append([math.nan] * self.n_states if states is None else states)
        return self._states(moved)

    def close(self) -> None:
        """Close all."""
        for session in self._all:
            session.close()
        self._all = []

    def _states(self, rows: Sequence[Sequence[float]]) -> Array:
        for row in rows:
            if len(row) != self.n_states:
                raise ValueError(f"a session must give {self.n_states} states, got {len(row)}")
        return np.array(rows, dtype=float).reshape(len(rows), self.n_states)


def serve(
    link: Connection, opener: str, settings: str, n_states: int, n_inputs: int, n_driven: int, memory: int, folder: str
) -> None:
    """Answer messages until told to stop, or until nobody is there; an error is told, not raised.

    Temporary files go into `folder`; the process gets no more than `memory` bytes beside what it has at its start.
    """
    tempfile.tempdir = folder
    _limit_memory(memory)
    sessions = Sessions(opener, json.loads(settings), n_states)
    try:
        while True:
            message = link.recv_bytes()
            kind, rest = message[:1], message[1:]
            if kind == STOP:
                return
            if kind == START:
                found = sessions.start(json.loads(rest))
            else:
                numbers = np.frombuffer(rest)
                found = sessions.step(numbers[0], numbers[1], numbers[2:].reshape(-1, n_driven), n_inputs)
            link.send_bytes(DONE + found.tobytes())
    except (EOFError, KeyboardInterrupt):
        return
    except Exception:  # noqa: BLE001  (whatever a session raises is for the one who asked)
        link.send_bytes(WRONG + traceback.format_exc().encode())
    finally:
        sessions.close()


def _limit_memory(more: int) -> None:
    """Refuse this process further address space beyond `more` bytes, where the system can (Linux)."""
    size = Path("/proc/self/statm")
    if sys.platform != "linux" or not size.exists():
        return
    import resource

    now = int(size.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


TOGETHER = 16
"""Rollouts that advance side by side: the lanes of a kernel."""
_PATIENCE = 5.0  # s, for a process to end by itself


class SlowPlantError(RuntimeError):
    """A slow plant's program failed or its process died."""


class Crew(Protocol):
    """Who moves slow plants, many rollouts at a time; at most `room` of them side by side."""

    room: int

    def start(self, starts: Starts) -> Array:
        """Begin rollouts; return their states [n, n_x]."""

    def step(self, t: float, h: float, driven: Array) -> Array:
        """Return the states [n, n_x] after a step with inputs and disturbances [n, n_u + n_w]; NaN: lost or over."""

    def close(self) -> None:
        """End everything."""


@dataclass(frozen=True)
class SlowLimits:
    """What a process with a slow plant's program may take before it is ended.

    Attributes
    ----------
    seconds : float
        For one answer: opening and starting its share of rollouts, or one step of them.
    memory : int
        Address space beside what the process has at its start [bytes]; kept on Linux alone.
    """

    seconds: float = 60.0
    memory: int = 4 * 2**30

    def __post_init__(self) -> None:
        """Refuse limits under which nothing runs."""
        if not self.seconds > 0.0 or self.memory < 2**20:
            raise ValueError(
                f"limits must be above 0 s and at least 1 MiB, got {self.seconds:g} s and {self.memory} bytes"
            )


_USUAL = SlowLimits()


def crew(plant: SlowPlant, workers: int = 1, recycle: int = 100, limits: SlowLimits = _USUAL) -> Crew:
    """Return who moves a slow plant.

    Parameters
    ----------
    plant : SlowPlant
    workers : int
        Processes; 0: none, in this one. Results do not depend on it.
    recycle : int
        Rollouts after which a process is replaced.
    limits : SlowLimits
        Of each process. Without processes there are none.
    """
    if workers < 0 or recycle < 1:
        raise ValueError(f"workers must be at least 0 and recycle at least 1, got {workers} and {recycle}")
    if plant.together:
        moved: Crew = opened(plant.together, plant.settings)
        return moved
    return _Alone(plant) if workers == 0 else _Processes(plant, workers, recycle, limits)


class _Alone:
    """Sessions in this process."""

    def __init__(self, plant: SlowPlant) -> None:
        self._sessions = Sessions(plant.opener, plant.settings, len(plant.plant.states))
        self._n_inputs = len(plant.plant.inputs)
        self.room = 1 if plant.alone else TOGETHER

    def start(self, starts: Starts) -> Array:
        return self._sessions.start(starts)

    def step(self, t: float, h: float, driven: Array) -> Array:
        return self._sessions.step(t, h, driven, self._n_inputs)

    def close(self) -> None:
        self._sessions.close()


class _Processes:
    """Sessions in processes, an even share of the rollouts each."""

    def __init__(self, plant: SlowPlant, workers: int, recycle: int, limits: SlowLimits) -> None:
        self._plant, self._recycle, self._limits = plant, recycle, limits
        self._members: list[_Member | None] = [None] * workers
        self._shares: list[slice] = []
        self._n_states = len(plant.plant.states)
        self.room = workers if plant.alone else max(workers, TOGETHER)

    def start(self, starts: Starts) -> Array:
        used = min(len(self._members), len(starts))
        edges = [len(starts) * k // used for k in range(used + 1)]
        self._shares = [slice(a, b) for a, b in pairwise(edges)]
        for k, share in enumerate(self._shares):
            self._fresh(k, share.stop - share.start).send(START + json.dumps(list(starts[share])).encode())
        return self._gathered()

    def step(self, t: float, h: float, driven: Array) -> Array:
        for k, share in enumerate(self._shares):
            self._member(k).send(STEP + np.concatenate([[t, h], driven[share].ravel()]).tobytes())
        return self._gathered()

    def close(self) -> None:
        for member in self._members:
            if member is not None:
                member.end()
        self._members = [None] * len(self._members)

    def _fresh(self, k: int, rollouts: int) -> _Member:
        """A process that may still take so many rollouts."""
        member = self._members[k]
        if member is not None and member.done + rollouts > self._recycle and member.done > 0:
            member.end()
            member = None
        member = member or _Member(self._plant, self._limits)
        self._members[k] = member
        member.done += rollouts
        return member

    def _member(self, k: int) -> _Member:
        member = self._members[k]
        if member is None:
            raise SlowPlantError("a step was asked for before any rollout was begun")
        return member

    def _gathered(self) -> Array:
        rows = [self._member(k).answer().reshape(-1, self._n_states) for k in range(len(self._shares))]
        return np.concatenate(rows)


class _Member:
    """One process and the link to it."""

    def __init__(self, plant: SlowPlant, limits: SlowLimits) -> None:
        context, declared = multiprocessing.get_context("spawn"), plant.plant
        self._name, self._limits, self.done = plant.name, limits, 0
        self._folder = tempfile.mkdtemp(prefix="slow_plant_")
        self._link, theirs = context.Pipe()
        driven = len(declared.inputs) + len(declared.disturbances)
        numbers = (len(declared.states), len(declared.inputs), driven)
        given = (plant.opener, json.dumps(dict(plant.settings)), *numbers, limits.memory, self._folder)
        self._process = context.Process(target=serve, args=(theirs, *given), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, message: bytes) -> None:
        try:
            self._link.send_bytes(message)
        except OSError as error:
            raise self._died() from error

    def answer(self) -> Array:
        try:
            if not self._link.poll(self._limits.seconds):
                raise self._hangs()
            message = self._link.recv_bytes()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if message[:1] != DONE:
            told = message[1:].decode().strip()
            found = SlowPlantError(f"plant {self._name!r}: {self._said(told.splitlines()[-1])}")
            found.add_note(told)  # where it was raised, in the other process
            raise found
        return np.frombuffer(message[1:])

    def end(self) -> None:
        with suppress(OSError):  # it may have ended already
            self._link.send_bytes(STOP)
        self._process.join(_PATIENCE)
        self._kill()

    def _kill(self) -> None:
        """End the process whatever it does, and take away what it left."""
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._link.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _said(self, words: str) -> str:
        if words.startswith("MemoryError"):
            return f"its program wants more than {self._limits.memory / 2**20:g} MiB of memory (SlowLimits.memory)"
        return words

    def _hangs(self) -> SlowPlantError:
        self._kill()
        return SlowPlantError(
            f"plant {self._name!r}: its program did not answer within {self._limits.seconds:g} s and was ended; one "
            "that needs longer gets more (SlowLimits.seconds, `sscq surrogate --patience`)"
        )

    def _died(self) -> SlowPlantError:
        self._process.join(_PATIENCE)
        code = self._process.exitcode
        self._kill()
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return SlowPlantError(f"plant {self._name!r}: its process died ({how}); its program crashed")
