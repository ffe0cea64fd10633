"""What the sources of the method claim, computed again: figures, tables and numbers, each with a verdict.

`sscq reproduce`: claims by subject in `claims`, their words in `declarations`; beside them what they compute with.
"""
