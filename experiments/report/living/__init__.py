"""The living page: the loop in a browser, as an export among others.

It is here, not with the other targets, because it has the report's style.
"""
