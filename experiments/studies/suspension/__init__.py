"""The car: ride comfort against road holding under laws of its field, fixed PID and knowledge bases.

Studies: `suspension`, and `suspension_animation`, the car on its road as a page of its own.
"""
