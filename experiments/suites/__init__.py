"""Series of designs that say what the method is worth: the benchmark of control quality, and ablations.

Run by `python -m experiments.benchmark`; entropy's own test, the third suite, is a study.
"""
