"""Stability margins of frozen loops at operating points: sampled linear loops, their responses, a fast kernel.

One channel here, several that share a plant in ``coupled``; ``operating`` chooses, and is what searches and reports
use.
"""
