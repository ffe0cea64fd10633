"""One-sided constraints: contact forces and impacts by Gauss' principle, and blocks for lanes.

At most two gaps by cases and selects, which lanes can carry; any number of them by active sets in NumPy.
"""
