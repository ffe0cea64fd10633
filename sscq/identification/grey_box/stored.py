"""Members of a plant of known equations as a file: numbers and names, never code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.reading.formats import read_json
from plants.identification.grey_box import LOADS
from sscq.identification import stored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from sscq.identification.grey_box.members import GreyEnsemble

    Array = NDArray[np.float64]

KEY = "grey_box"
DISCREPANCY = 0.05
"""How far members are spread because no plant is its equations, in logarithms and in shares of dead time and row."""


@dataclass(frozen=True, eq=False)
class StoredGrey:
    """Members without the logs that they come from.

    Attributes
    ----------
    plant : str
        Name of the plant whose equations they have.
    plant_file : str
        The user's file that registers it; empty: it is one of the library's.
    fitted : tuple of str
    loaded : str
        The disturbance that the loads are added to; empty: the command.
    members : array [n, n_parameters]
        Fitted parameters, then dead time and loads.
    step, discrepancy : float
        Step: between rows of the logs [s].
    refusal : str
        Why no gains should follow; empty: they may.
    loop : StoredLoop
    """

    plant: str
    plant_file: str
    fitted: tuple[str, ...]
    loaded: str
    members: Array
    step: float
    discrepancy: float
    refusal: str
    loop: stored.StoredLoop

    def column(self, name: str) -> Array:
        """Return one parameter of all members [n]."""
        return np.asarray(self.members[:, [*self.fitted, *LOADS].index(name)])


def grey_document(
    ensemble: GreyEnsemble, loop: stored.StoredLoop, plant_file: str = "", discrepancy: float = DISCREPANCY
) -> dict[str, Any]:
    """Return members and loop as plain data."""
    box = ensemble.box
    return {
        "schema": stored.SCHEMA,
        "version": stored.VERSION,
        "step": box.step,
        "discrepancy": discrepancy,
        "refusal": ensemble.refusal,
        "loop": stored.plain_loop(loop),
        KEY: {
            "plant": box.plant.name,
            "plant_file": plant_file,
            "loaded": box.loaded,
            "fitted": list(box.fitted),
            "parameters": list(box.parameters),
            "members": ensemble.parameters.tolist(),
        },
    }


def is_grey(path: str | Path) -> bool:
    """Return whether a file holds members of a plant of known equations."""
    return KEY in read_json(path, dict[str, Any])


def load_grey(path: str | Path) -> StoredGrey:
    """Read what :func:`grey_document` gave.

    Raises
    ------
    FileError
        If it is no such file: the message says what is wrong.
    OSError
        If it cannot be opened.
    """
    return stored.read_plants(path, _loaded, " of a plant")


def _loaded(found: Mapping[str, Any]) -> StoredGrey:
    common, box = stored.loaded_common(found), found[KEY]
    if not isinstance(box, dict):
        raise TypeError(f"{KEY} must be a mapping, got {type(box).__name__}")
    texts = [box[name] for name in ("plant", "plant_file", "loaded")]
    fitted = box["fitted"]
    if not all(isinstance(text, str) for text in texts) or not isinstance(fitted, list) or not fitted:
        raise TypeError("plant, plant_file and loaded must be texts, fitted a list of parameters")
    if not all(isinstance(name, str) for name in fitted) or box["parameters"] != [*fitted, *LOADS]:
        raise ValueError(f"parameters must be those that are fitted, then {', '.join(LOADS)}")
    if common.loop is None:
        raise ValueError("it says nothing of the loop")
    members = stored.table("the plant", box["members"], len(fitted) + len(LOADS))
    late = len(fitted)
    if (np.delete(members, late, axis=1) <= 0.0).any() or (members[:, late] < 0.0).any():
        raise ValueError("a member has a parameter or a time that is none")
    return StoredGrey(
        plant=texts[0],
        plant_file=texts[1],
        fitted=tuple(fitted),
        loaded=texts[2],
        members=members,
        step=common.step,
        discrepancy=common.discrepancy,
        refusal=common.refusal,
        loop=common.loop,
    )
