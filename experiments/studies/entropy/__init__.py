"""Entropy's own test: whether gain tuning for less entropy production loses less heat than other regularisers.

Command: `python -m experiments.benchmark suite=entropy`.
"""
