"""Margins of several channels of one plant, each loop opened while the others stay closed with their own gains.

The files mirror those for one loop: the sampled loops, their frequency responses, the compiled kernel, the margins.
"""
