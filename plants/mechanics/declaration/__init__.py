"""What a mechanism is: names, energies, forces, constraints, as a user declares them.

The lowest layer of the kit: records and their checks, no derivation.
"""
