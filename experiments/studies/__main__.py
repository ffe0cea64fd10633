"""Run a study: its designs, what they found, and the page written of it.

    python -m experiments.studies                            # their names
    python -m experiments.studies unicycle                   # all of a study's designs, and the page
    python -m experiments.studies unicycle design-0          # some of them, what they found printed only
    python -m experiments.studies unicycle folder=X budget.evaluations=2000    # other words go to `sscq design`

A finished design is not repeated, a stopped one is gone on with. What a study is judged in is declared in a
file in experiments/studies/declarations, whose hash is printed; other situations of the plants are refused. What else a
study takes says `python -m experiments.studies NAME --help`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from experiments.runtime.errors import UserError, user_errors
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

STUDIES = {
    "van_der_pol": "van_der_pol.study:main",
    "confirmation": "van_der_pol.confirmation:main",
    "budgets": "afterwards.budgets:main",
    "chain": "afterwards.chain:main",
    "calibration": "calibration.study:main",
    "ranks": "calibration.ranks:main",
    "operation": "operation:main",
    "published": "published:main",
    "certificates": "afterwards.certificates:main",
    "coverage": "afterwards.claims:coverage",
    "safety": "afterwards.claims:safety",
    "imitation": "van_der_pol.imitation:main",
    "entropy": "entropy.command:main",
    "reactors": "reactors:main",
    "suspension": "suspension.comparison:SuspensionStudy",
    "suspension_animation": "suspension.animation:main",
    "unicycle": "unicycle.comparison:UnicycleStudy",
    "unicycle_region": "unicycle.comparison:UnicycleRegionStudy",
    "unicycle_head_room": "unicycle.head_room:main",
    "vehicle": "vehicle.comparison:VehicleStudy",
}
"""Module in this package and class of each study, or its function; it takes the command's further words."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study that the first word names; list them without one."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or {"-h", "--help"} & set(words):
        print(_help(words))
        return
    with user_errors():
        if words[0] not in STUDIES:
            raise UserError(unknown("study", words[0], tuple(STUDIES)))
        module, _, name = STUDIES[words[0]].partition(":")
        found = getattr(import_module(f"experiments.studies.{module}"), name)
        run = found().main if isinstance(found, type) else found
        run(words[1:])


def _help(words: Sequence[str]) -> str:
    """What a study's module says of itself; without one how to run them, and their names."""
    if words[0:1] and words[0] in STUDIES:
        return str(import_module(f"experiments.studies.{STUDIES[words[0]].partition(':')[0]}").__doc__)
    return "\n".join([str(__doc__), "Studies: " + ", ".join(STUDIES)])


if __name__ == "__main__":
    main()
