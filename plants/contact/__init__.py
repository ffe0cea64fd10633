"""One-sided contact with friction: complementarity on the gap at a step's end and on its mean over a short time.

Without friction, the mechanics kit has contacts of its own (:mod:`plants.mechanics.contacts`).
"""

from plants.contact.complementarity import enumerated, fischer_burmeister, scaled, two_contacts
from plants.contact.end_gap import at_end
from plants.contact.mean_gap import averaged

__all__ = ["at_end", "averaged", "enumerated", "fischer_burmeister", "scaled", "two_contacts"]
