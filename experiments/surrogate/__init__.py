"""Designing for a slow plant through a fast model of it: fit, design, verify, refit where they differ."""
