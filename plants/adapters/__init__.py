"""Plants that other packages describe, one adapter a file; each needs its package only when it is used.

Expressions (CasADi, SymPy) become blocks and are compiled; programs (MuJoCo, FMU, plain Python) stay what they are
and are stepped as slow plants.
"""
