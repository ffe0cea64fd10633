"""Chaplygin's and Voronets' equations by the mechanised procedure: intermediate variables keep their names.

`split` chooses the independent rates, `dependent_rates` solves the constraints for the others, `equations` derives.
"""
