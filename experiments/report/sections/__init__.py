"""The sections of the page, one function each: a view in, markup out.

`view` has what all share: colours and names of controllers, sums over situations, frames and tables.
"""
