"""The Van der Pol oscillator: the whole ladder of controllers, and what parts of the method do on it.

Studies: `van_der_pol`, `confirmation` (fresh situations), `imitation`.
"""
