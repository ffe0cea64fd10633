"""What the closed loop makes of a knowledge base: searches of its rules and terms, fewer rules, fewer inputs.

Also knowledge bases without a teacher, as starts and as rivals: the direct and the hand-made one.
"""
