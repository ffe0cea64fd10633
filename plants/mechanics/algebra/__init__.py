"""From a declaration to programs: two ways to differentiate, and the blocks that every formulation uses.

On the tape (`calculus`), where nothing is expanded, and by computer algebra (`symbolic`), which looks for the
shortest form.
"""
