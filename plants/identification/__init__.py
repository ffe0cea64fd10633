"""What a log of a running loop says about plants: filters that know plants and disturbances, but no controllers.

record        the columns that a filter reads: input, output, what is missing
two_lags      the plant of two lags with dead time, slope and curve, and its exact step
slow_filter   the Kalman filter row by row in plain NumPy, with everything it sees: the reference
lane_filter   the likelihood of many parameter sets at a time, compiled
"""
