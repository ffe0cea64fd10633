"""The teacher: a search for the best gains over time, whose table of rows a knowledge base learns from.

Window after window from where the loop then is, or all windows of a situation at once; also along another controller's
run.
"""
