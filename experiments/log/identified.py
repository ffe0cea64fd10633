"""Plants that were identified from a log, as a plant for all commands: `plant_file=identified.json`, or `ensemble=`.

The file holds numbers; nothing in it is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plants
from experiments.runtime.errors import UserError
from plants.core.reading.files import FileError
from sscq.identification import stored
from sscq.identification.design_plant import design_plant

if TYPE_CHECKING:
    from plants import Plant

_ADVICE = "an ensemble is an identified.json that `sscq commission` wrote"


def load(file: str) -> tuple[Plant, ...]:
    """Register the plant of an ensemble and return it.

    Raises
    ------
    UserError
        If there is no such file, or no design follows from it.
    """
    try:
        plant = design_plant(stored.load_ensemble(file))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}; {_ADVICE}") from None
    except FileError as error:
        raise UserError(f"{error}; {_ADVICE}") from None
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    return (plants.register(plant, replace=True),)


def settle(file: str, controller: Any) -> None:
    """Give a design what its ensemble says of the loop, where the user does not: sample time and present gains."""
    loop = stored.load_ensemble(file).loop
    if loop is None:
        return
    if controller.sample_time is None:
        controller.sample_time = loop.sample_time
    if controller.own_gains is None and loop.present is not None:
        controller.own_gains = list(loop.present)
