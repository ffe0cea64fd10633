"""One-sided contact with friction: complementarity on the gap and on its mean over a short time.

Without friction, the mechanics kit has contacts of its own (:mod:`plants.mechanics.contacts`).
"""

from plants.contact.complementarity import enumerated, fischer_burmeister, scaled, two_contacts
from plants.contact.mean_gap import averaged

__all__ = ["averaged", "enumerated", "fischer_burmeister", "scaled", "two_contacts"]
