"""One-sided contact with friction: complementarity on the gap at a step's end and on its mean over a short time.

`complementarity` finds the forces, `gaps` says what they have to keep open. Without friction, the mechanics kit has
contacts of its own (:mod:`plants.mechanics.contacts`).
"""

from plants.contact.complementarity import enumerated, fischer_burmeister, scaled, two_contacts
from plants.contact.gaps import at_end, averaged

__all__ = ["at_end", "averaged", "enumerated", "fischer_burmeister", "scaled", "two_contacts"]
