"""Closed loops that somebody else controls, sample by sample: every lane at its own time, all in one compiled call.

``Lanes`` are reset and commanded; the loop under them has the bits of a simulation.
"""
