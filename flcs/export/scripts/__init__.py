"""Scripts without dependencies: one file in Python, one in JavaScript.

Each file holds statements, text of the class, target and proof of one language.
"""
