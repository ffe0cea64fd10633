"""Whether promises from logs hold: loops of eleven kinds, with equations of their own, and what is said of them.

loops  the kinds of plants, with parameters drawn, and the loop around one, in plain Python
logs   what a log of a loop has: moves, loads, noise, rounding, missing rows
study  python -m experiments.studies calibration: every log read as a user would, the promise against the truth
"""
