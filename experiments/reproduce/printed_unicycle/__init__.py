"""The unicycle's printed coefficients, each read as text and compared with an independent derivation.

Fidelity data in `printed/*.json`.
"""
