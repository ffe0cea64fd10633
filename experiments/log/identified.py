"""Plants that were identified from a log, as a plant for all commands: `plant_file=identified.json`, or `ensemble=`.

The file holds numbers; nothing in it is executed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from experiments.runtime.errors import UserError
from experiments.starting import plant_choice
from plants.core.reading.files import FileError
from sscq.identification import stored
from sscq.identification.design_plant import design_plant
from sscq.identification.grey_box import stored as grey
from sscq.identification.grey_box.plant import grey_plant

if TYPE_CHECKING:
    from plants import Plant

_ADVICE = "an ensemble is an identified.json that `sscq commission` or `sscq identify` wrote"


def load(file: str) -> tuple[Plant, ...]:
    """Register the plant of an ensemble and return it.

    Raises
    ------
    UserError
        If there is no such file, or no design follows from it.
    """
    try:
        plant = _grey(file) if grey.is_grey(file) else design_plant(stored.load_ensemble(file))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}; {_ADVICE}") from None
    except FileError as error:
        raise UserError(f"{error}; {_ADVICE}") from None
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    return (plants.register(plant, replace=True),)


def _grey(file: str) -> Plant:
    """The plant of known equations that a file has members of; the user's own is executed as one of a run is."""
    found = grey.load_grey(file)
    if found.plant_file:
        own = Path(found.plant_file)
        if own.suffix != ".py":  # members of members would never end
            raise UserError(f"{file} names {own} as the plant file of its plant, which is no Python file")
        if not own.is_file():
            raise UserError(
                f"{file} has members of a plant of {own}, which is not there: put it back, or identify again"
            )
        plant_choice.load(plant_choice.known_file(own, file, "sscq check "), quiet=True)
    return grey_plant(found, plants.find(found.plant))


def settle(file: str, controller: Any) -> None:
    """Give a design what its ensemble says of the loop, where the user does not: sample time and present gains."""
    loop = grey.load_grey(file).loop if grey.is_grey(file) else stored.load_ensemble(file).loop
    if loop is None:
        return
    if controller.sample_time is None:
        controller.sample_time = loop.sample_time
    if controller.own_gains is None and loop.present is not None:
        controller.own_gains = list(loop.present)
