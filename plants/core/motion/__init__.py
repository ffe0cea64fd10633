"""How a plant moves: integrators, one step as lane loops, and the simulation of one plant without a controller.

With the account and the watch of the algebraic loop's gain along runs.
"""
