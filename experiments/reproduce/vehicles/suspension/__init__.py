"""The car derived a second time, and as the source prints it: what its equations are held against; and its rollouts.

Claims, tests and benchmarks read these, the plant does not.
"""
