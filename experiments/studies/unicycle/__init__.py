"""The unicycle: which pushes it survives under fixed gains, knowledge bases and LQR.

Commands: `comparison` (taught rides), `regions` (a disc of pushes is taught), `head_room` (what schedules could win).
"""
