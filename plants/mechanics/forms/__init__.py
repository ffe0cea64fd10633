"""Formulations of the equations of motion, each a function of the blocks."""
