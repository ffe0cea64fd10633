"""From logs of a running loop to plants that could have produced them.

prior     what is known before a log is read, and the sampler's coordinates
residuals whether what a filter did not expect looks like noise
ensemble  plants that could have produced the logs, and the tests that may refuse them
sampler   draws from a density by populations of walkers, without slopes
"""
