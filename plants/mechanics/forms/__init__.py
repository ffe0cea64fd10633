"""Formulations of the equations of motion, each a function of the blocks.

With multipliers, reduced to quasi-velocities or joints, Chaplygin's, and the pseudo-inverse that all of them must
agree with.
"""
