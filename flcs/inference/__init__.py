"""From inputs to gains: shapes of terms, linguistic variables, rules, and every form of fuzzy inference.

All blocks run on numbers, arrays and traced numbers alike: the controller, NumPy and every export use the same ones.
"""
