"""Vehicles as their sources print them, derived again, and many runs of them in one form and way to treat its loop."""
