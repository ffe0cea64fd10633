"""The car: ride comfort against road holding under laws of its field, fixed PID and knowledge bases.

Commands: `comparison`, and `animation`, which writes the car on its road as a page of its own.
"""
