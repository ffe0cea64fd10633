"""Search in a box, whatever is searched for: genes and encodings, methods, the loop that they share, checkpoints.

A method is a strategy that asks for fitness and is told it: genetic, CMA-ES, differential evolution; NSGA-II for
fronts. Nothing here knows closed loops.
"""
