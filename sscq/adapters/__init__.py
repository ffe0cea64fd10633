"""Closed loops as other packages want them, one adapter a file; each needs its package only when it is used."""
