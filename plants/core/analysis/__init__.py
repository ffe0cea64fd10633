"""A plant looked at without running it: slopes, linear models, equilibria, symmetry, loops in continuous time."""
