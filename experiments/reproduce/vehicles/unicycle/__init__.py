"""The unicycle derived a second and a third time, and as the source prints it; and its rollouts.

What the plant's equations are held against: claims, tests and benchmarks read these, the plant does not.
"""
