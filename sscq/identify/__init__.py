"""From logs of a running loop to plants that could have produced them.

prior     what is known before a log is read, and the sampler's coordinates
sampler   draws from a density by populations of walkers, without slopes
"""
