"""Reference paths, one mechanism at a time: event-driven with contacts, and by SciPy's implicit solvers.

They are slow and exact. What lanes do with a fixed step is held against them.
"""
