"""From the tape to text that compilers read: Python for our own compiler, C for all others.

Python is what kernels are printed in; C has the same operations in the same order, and gives the same bits.
"""
