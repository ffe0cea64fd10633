"""The car derived a second time, and as the source prints it: what its equations are held against.

Tests and benchmarks read these, the plant does not.
"""
