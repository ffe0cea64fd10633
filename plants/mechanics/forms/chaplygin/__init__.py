"""Chaplygin's and Voronets' equations by the mechanised procedure: intermediate variables keep their names.

`split` chooses the independent rates, `equations` solves the constraints for the others and derives.
"""
