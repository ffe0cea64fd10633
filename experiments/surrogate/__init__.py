"""Designing for a slow plant through a fast model of it: fit, design, verify, refit where they differ.

`command` is `sscq surrogate`; a round fits a linear or a grey-box model to counted runs of the slow plant.
"""
