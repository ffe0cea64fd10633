"""Many rollouts in one generated kernel: lane loops, the printed and compiled kernel, its signals, its runs.

Generated sources and their machine code lie in the user's cache folder.
"""
