"""Parameters of a plant of its own equations from a log: registered plants, and the user's.

prior      what is known of its parameters and loads before the log
members    plants that could have produced the logs, and the tests that may refuse them
stored     the same as a file; plant: the same as a plant of the design chain
"""
