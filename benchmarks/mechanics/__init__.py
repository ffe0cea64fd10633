"""Deriving and evaluating equations of motion: systems, forms, drift, size of expressions, contacts; docs/performance.

`systems` writes the benchmark systems down as a user would; tests hold them against references.
"""
