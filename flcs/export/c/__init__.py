"""C99 in double and in single precision, without allocation or library calls.

Proved by gcc with sanitizers, under hostile inputs, and in a closed loop with the plant in C.
"""
