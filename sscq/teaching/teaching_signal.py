"""The teaching signal: a table of (error signals, best gains) rows that a knowledge base learns from.

Signals of several situations are pooled. Rows as they come give a situation with more windows, or with gains that
matter more, more to say. Equal shares make the base as much that of a calm situation as of a rough one; shares by
1 / J_ref, where J_ref is what the reference controller reaches there, keep hard situations, whose fitness is large
whatever is done, from deciding alone.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from plants.core import atomic_files
from plants.core.reading.files import read_text
from plants.core.reading.formats import csv_rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


SCHEMA = "sscq.teaching_signal/1"
_OTHERS = 4  # columns beside the inputs and gains, of which every channel has three each; plant outputs may follow
_INTEGRAL = re.compile(r"error_integral(_\d+)?")


@dataclass(frozen=True)
class TeachingSignal:
    """Gains that a search found best over time, with the inputs a controller would have seen.

    Attributes
    ----------
    situation : ndarray of int [n]
        Which situation (scenario) the row is from; `situation_names` says its name.
    time : ndarray [n], s
    inputs : ndarray [n, n_inputs]
        Per channel: error, filtered error rate, integral of the error; then plant outputs, if any were asked for.
    gains : ndarray [n, 3 * channels]
    weight : ndarray [n]
        How much the row knows, 0 to 1: where the fitness is flat in the gains, the best ones are an accident.
    fitness : ndarray [n]
        Of the window with these gains.
    clairvoyant : bool
        Whether the search saw the noise that was to come: such gains cannot be had by any controller.
    """

    situation: np.ndarray
    time: np.ndarray
    inputs: np.ndarray
    gains: np.ndarray
    weight: np.ndarray
    fitness: np.ndarray
    input_names: tuple[str, ...]
    gain_names: tuple[str, ...]
    situation_names: tuple[str, ...]
    clairvoyant: bool = False

    def __post_init__(self) -> None:
        """Check that the columns fit."""
        n = len(self.time)
        shapes: dict[str, tuple[int, ...]] = {"inputs": (n, len(self.input_names)), "gains": (n, len(self.gain_names))}
        for name in ("situation", "weight", "fitness"):
            shapes[name] = (n,)
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                message = f"teaching signal: {name} must have shape {shape}, got {getattr(self, name).shape}"
                raise ValueError(message)

    def __len__(self) -> int:
        return len(self.time)

    def save(self, path: str | Path) -> Path:
        """Write as CSV (readable by anything) to `path`, atomically."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([f"# {SCHEMA}", f"clairvoyant={int(self.clairvoyant)}", *self.situation_names])
        writer.writerow(["situation", "time", *self.input_names, *self.gain_names, "weight", "fitness"])
        for i in range(len(self)):
            numbers = (*self.inputs[i], *self.gains[i], self.weight[i], self.fitness[i])
            writer.writerow([int(self.situation[i]), repr(float(self.time[i])), *(repr(float(v)) for v in numbers)])
        atomic_files.write(Path(path), text.getvalue())
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> TeachingSignal:
        """Read what :meth:`save` wrote.

        Raises
        ------
        ValueError
            Naming file and row, where the file is of another kind, cut off, or not finite.
        """
        path = Path(path)
        text = read_text(path)
        rows = [row for _, row in csv_rows_of(text, str(path))]
        if not rows or rows[0][:1] != [f"# {SCHEMA}"]:
            message = f"{path} is not a teaching signal of this version: expected a first line '# {SCHEMA}'"
            raise ValueError(message)
        head = rows[1] if len(rows) > 1 else []
        n_gains = 3 * sum(_INTEGRAL.fullmatch(name) is not None for name in head)  # as many channels
        whole = head[:2] == ["situation", "time"] and head[-2:] == ["weight", "fitness"]
        whole = whole and n_gains > 0 and 2 * n_gains + _OTHERS <= len(head)
        if not (whole and text.endswith("\n")):
            message = f"{path}: row {len(rows)} is cut off, or the columns are not a teaching signal's, got {rows[-1]}"
            raise ValueError(message)
        body = []
        for number, row in enumerate(rows[2:], start=3):
            try:
                values = [float(cell) for cell in row]
            except ValueError:
                values = []
            if len(values) != len(head) or not np.isfinite(values).all():
                message = f"{path}: row {number} must be {len(head)} finite numbers, got {row}"
                raise ValueError(message)
            if values[0] not in range(len(rows[0]) - 2):
                message = f"{path}: row {number} is of situation {row[0]}, but the first line names {rows[0][2:]}"
                raise ValueError(message)
            body.append(values)
        table = np.array(body).reshape(len(body), len(head))
        split = len(head) - 2 - n_gains
        return cls(
            situation=table[:, 0].astype(np.int64),
            time=table[:, 1],
            inputs=table[:, 2:split],
            gains=table[:, split:-2],
            weight=table[:, -2],
            fitness=table[:, -1],
            input_names=tuple(head[2:split]),
            gain_names=tuple(head[split:-2]),
            situation_names=tuple(rows[0][2:]),
            clairvoyant=rows[0][1] == "clairvoyant=1",
        )

    @classmethod
    def pooled(cls, signals: list[TeachingSignal]) -> TeachingSignal:
        """Join signals of the same plant and controller row by row."""
        first = signals[0]
        columns = {
            f.name: np.concatenate([getattr(s, f.name) for s in signals])
            for f in fields(cls)
            if f.name in {"situation", "time", "inputs", "gains", "weight", "fitness"}
        }
        return cls(
            **columns,
            input_names=first.input_names,
            gain_names=first.gain_names,
            situation_names=first.situation_names,
            clairvoyant=any(s.clairvoyant for s in signals),
        )

    @classmethod
    def of_rounds(cls, rounds: Sequence[TeachingSignal]) -> TeachingSignal:
        """Join the signals of several rounds of teaching in the same situations; each round's are told apart by name.

        Situation i of round r (from 1) becomes number i + (r - 1) * n of n situations, called "name, round r" after the
        first round.
        """
        names = rounds[0].situation_names
        if any(signal.situation_names != names for signal in rounds):
            raise ValueError(f"rounds of teaching must have the same situations {names}; join others with pooled()")
        whole = cls.pooled(list(rounds))
        shifts = np.repeat(np.arange(len(rounds)) * len(names), [len(signal) for signal in rounds])
        further = [f"{name}, round {r}" for r in range(2, len(rounds) + 1) for name in names]
        return replace(whole, situation=whole.situation + shifts, situation_names=(*names, *further))


def balanced(signal: TeachingSignal, importance: ArrayLike) -> TeachingSignal:
    """Return the signal with the weights of each situation's rows scaled together; the sum of all weights stays.

    Parameters
    ----------
    signal : TeachingSignal
    importance : array [n_situations]
        What the weights of a situation's rows sum up to, in relation to the others; positive. A situation whose rows
        all have weight 0 stays without any.

    Raises
    ------
    ValueError
        If there is not one positive finite number for each situation.
    """
    shares = np.asarray(importance, dtype=np.float64)
    if shares.shape != (len(signal.situation_names),) or not (np.isfinite(shares).all() and (shares > 0.0).all()):
        raise ValueError(
            f"importance must be one positive number for each of the {len(signal.situation_names)} situations, got "
            f"{shares}"
        )
    sums = np.bincount(signal.situation, weights=signal.weight, minlength=len(shares))
    known = sums > 0.0
    total = sums.sum()
    factors = np.where(known, shares / np.where(known, sums, 1.0), 0.0)
    factors *= total / max(float((shares * known).sum()), 1e-300)
    return replace(signal, weight=signal.weight * factors[signal.situation])


def importance_of(pooling: str, reference: ArrayLike) -> np.ndarray | None:
    """Return the importance of each situation [n_situations], None where rows are taken as they come.

    Parameters
    ----------
    pooling : {"rows", "equal", "reference"}
    reference : array [n_situations]
        Fitness of the reference controller in each situation, J_ref; not 0 for "reference".
    """
    values = np.abs(np.asarray(reference, dtype=np.float64))
    if pooling == "reference" and not (values > 0.0).all():
        raise ValueError(f"pooling by 1 / J_ref needs a reference fitness that is not 0, got {values}; use 'equal'")
    if pooling == "rows":
        return None
    return 1.0 / values if pooling == "reference" else np.ones(len(values))
