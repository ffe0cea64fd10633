"""From logs of a running loop to plants that could have produced them, and to gains with a promise.

reading    logs as control systems write them
prior      what is known before a log is read, and the sampler's coordinates
sampler    draws from a density by populations of walkers, without slopes
assessing  what a log says of its loop: gains, oscillation, valve, margins
residuals  whether what a filter did not expect looks like noise
ensemble   plants that could have produced the logs, and the tests that may refuse them
loops      those plants under the project's own laws, in exact steps
promise    what other gains would do, member by member
advice     fixed gains within margins and travel, or why the present ones stay
plan       the move to make where a log cannot tell; shadow: what other gains would have asked along it
grey_box   the same for a plant whose equations are known
stored     ensembles as files; verification: whether one explains a later log; design_plant: one as a plant
"""
