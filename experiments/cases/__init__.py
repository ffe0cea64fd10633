"""A stored knowledge base outside of its design: what it is judged against, and where it was found wanting.

For `sscq evaluate`, `worst`, `certify`, `replay` and `export`: its case, counter-examples as files, frozen margins.
"""
