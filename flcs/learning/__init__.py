"""From a teaching signal to a knowledge base: rows, linguistic variables, the Sugeno network, imitation.

`design` does all of it. Only `network` and `training` need torch, and only they may import it.
"""
