"""Fuzzy gain schedules: linguistic terms, Sugeno network, knowledge base, fuzzy controller."""
