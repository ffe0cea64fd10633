"""From a block to straight-line code: traced numbers on a tape, programs, derivatives.

The operations are those of :mod:`plants.core.tracing.scalar`; :mod:`plants.core.replay` carries a program out on
other numbers.
"""
