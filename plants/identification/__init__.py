"""What a log of a running loop says about plants: filters that know plants and disturbances, but no controllers.

record        the columns that a filter reads: input, output, what is missing
row           what a row of a log does to a plant of two states whose input is held and late
two_lags      the structure of two lags with dead time, slope and curve
oscillating   the structure of an oscillating plant
slow_filter   the Kalman filter row by row in plain NumPy, with everything it sees: the reference
lane_filter   the likelihood of many parameter sets at a time, compiled
grey_box      a plant of its own equations as a filter sees it: what is fitted, where loads enter, where it begins
extended_filter  the same likelihood for such a plant
"""
