"""What a process with slow plants does: it holds sessions and moves them when it is told to.

A message is a letter and what follows: plain text (JSON) or numbers as bytes. Nothing that is sent is executed.
"""

from __future__ import annotations

import json
import math
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.slow import LostError, opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from plants.core.slow import Session

    Array = NDArray[np.float64]

START, STEP, STOP, DONE, WRONG = b"s", b"t", b"q", b"d", b"w"


class Sessions:
    """The sessions of one process; they are opened once and start anew with every rollout."""

    def __init__(self, opener: str, settings: Mapping[str, Any], n_states: int) -> None:
        self.opener, self.settings, self.n_states = opener, settings, n_states
        self._all: list[Session] = []
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


def serve(link: Connection, opener: str, settings: str, n_states: int, n_inputs: int, n_driven: int) -> None:
    """Answer messages until told to stop, or until nobody is there; an error is told, not raised."""
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
