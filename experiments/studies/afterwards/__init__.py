"""Finished designs judged afterwards, in situations that no design has seen.

Studies: `coverage` and `safety` (what a verdict claimed), `chain` (what every rung of the ladder is worth),
`certificates` (what one costs).
"""
