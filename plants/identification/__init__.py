"""What a log of a running loop says about plants: filters that know plants and disturbances, but no controllers.

record        the columns that a filter reads: input, output, what is missing
row           what a row of a log does to a plant of two states whose input is held and late
two_lags      the structure of two lags with dead time, slope and curve
oscillating   the structure of an oscillating plant
slow_filter   the Kalman filter row by row in plain NumPy, with everything it sees: the reference
filter_bodies    what the compiled filters share: taking an output in, going on by a row
lane_filter      the likelihood of many parameter sets at a time, of rows equally far apart
uneven_filter    the same of rows that are not
likelihood       the one or the other
grey_box      a plant of its own equations as a filter sees it: what is fitted, where loads enter, where it begins
extended_filter  the same likelihood for such a plant
"""
