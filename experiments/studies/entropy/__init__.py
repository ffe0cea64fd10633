"""Entropy's own test: whether gain tuning for less entropy production loses less heat than other regularisers.

Study: `entropy`, also `python -m experiments.benchmark suite=entropy`.
"""
