"""Fill the run report."""
def report(*a): return "none"
