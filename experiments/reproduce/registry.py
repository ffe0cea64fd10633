"""The claims: what is published, in words and numbers (declarations/*.yaml), and the function that computes ours.

A subject's declaration and the module of the same name in `claims` belong together; a claim's function has its name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from experiments.runtime.errors import UserError
from plants.core.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.reproduce.results import Reproduction

FOLDER = Path(__file__).parent / "declarations"
SUBJECTS = (
    "scheme",
    "oscillators",
    "forming_filter",
    "car",
    "unicycle",
    "vehicle",
    "gauss",
    "quasi_velocities",
    "elimination",
)
"""In the order of the page."""


@dataclass(frozen=True)
class PublishedClaim:
    """A claim as it is published.

    Attributes
    ----------
    name, title : str
    subject : str
        Of :data:`SUBJECTS`.
    source : str
        As specifications and documentation cite it.
    claim : str
        One sentence.
    published : str
        The value, in words.
    values : mapping
        Published numbers that the function compares with ours.
    """

    name: str
    title: str
    subject: str
    source: str
    claim: str
    published: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def reproduce(self) -> Reproduction:
        """Compute ours."""
        module = importlib.import_module(f"experiments.reproduce.claims.{self.subject}")
        found: Reproduction = getattr(module, self.name)(self)
        return found


@cache
def claims() -> dict[str, PublishedClaim]:
    """Return all claims by name, in the order of the page.

    Raises
    ------
    ValueError
        Where two claims have one name.
    """
    found: dict[str, PublishedClaim] = {}
    for subject in SUBJECTS:
        declared = yaml.safe_load((FOLDER / f"{subject}.yaml").read_text(encoding="utf-8"))
        for name, words in declared.items():
            if name in found:
                raise ValueError(f"two claims are called {name!r}; names of claims are unique")
            found[name] = PublishedClaim(name=name, subject=subject, **words)
    return found


def claim(name: str) -> PublishedClaim:
    """Return a claim by its name.

    Raises
    ------
    UserError
        Where there is none, with the nearest names.
    """
    if name not in claims():
        near = did_you_mean(name, claims())
        raise UserError(
            f"no claim {name!r}{near} (`sscq reproduce --list` shows all {len(claims())} with their titles)"
        )
    return claims()[name]
