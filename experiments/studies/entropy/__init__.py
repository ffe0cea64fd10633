"""Entropy's own test: does gain tuning for less entropy production lose less heat than other regularisers?

Command: `python -m experiments.benchmark suite=entropy`.
"""
