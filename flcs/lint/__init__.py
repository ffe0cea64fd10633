"""Inspection of knowledge bases: what :func:`flcs.lint` looks for, and what it says.

Findings are about inputs, rules, gains and settings; each has a code, a severity and advice.
"""
