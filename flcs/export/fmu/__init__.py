"""Functional mock-up units, FMI 2.0 and 3.0: sources, a binary where there is a compiler, descriptions.

The interface's functions are files of C in `fmi`; FMPy runs the unit.
"""
