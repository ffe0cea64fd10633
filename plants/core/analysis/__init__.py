"""A plant looked at without running it: slopes, linear models, equilibria, symmetry, loops closed in continuous time."""
