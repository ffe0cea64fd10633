"""Closed loops that somebody else controls, sample by sample: every lane at its own time, all in one compiled call."""
