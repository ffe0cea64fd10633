"""Accelerations that depend on one another: gain of the loop, iterated and loop-free treatment, report on a run.

Solving them exactly is in :mod:`plants.core.accelerations`.
"""
