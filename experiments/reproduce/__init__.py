"""What the sources of the method claim, computed again: figures, tables and numbers with a verdict each.

`sscq reproduce`: claims by subject in `claims`; printed equations and runs that they need beside it.
"""
