"""The Van der Pol oscillator: the whole ladder of controllers, and what parts of the method do on it.

Commands: `study`, `confirmation` (fresh situations), `imitation`.
"""
