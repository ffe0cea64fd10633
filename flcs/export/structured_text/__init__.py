"""IEC 61131-3 Structured Text: a function block, and an interpreter of our own that proves it.

The interpreter knows nothing of the printer: it reads the text, checks types and runs it.
"""
