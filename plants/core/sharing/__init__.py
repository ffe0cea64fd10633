"""Fewer operations for the same values: what sums and products have in common is computed once.

A program is read as sums and products of any number of terms, common pairs and factors are taken out, and it is
written to a tape again.
"""
