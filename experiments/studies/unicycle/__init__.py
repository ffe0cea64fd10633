"""The unicycle: which pushes it survives under fixed gains, knowledge bases and LQR.

Studies: `unicycle` (taught rides), `unicycle_region` (a disc of pushes is taught), `unicycle_head_room` (what schedules
could win).
"""
