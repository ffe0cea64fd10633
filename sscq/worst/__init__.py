"""The worst control situation of an envelope of declared ranges, and how often a controller fails in it.

Situations are genomes: a search looks for the worst, random draws give a bound with a confidence.
"""
