"""The stages of a design, each computed once and stored: ladder, teaching, knowledge base, refinement, verdict.

From below: searched controllers on disk, the ladder of baselines, the knowledge base and its refinement, further rungs,
judging, trade-off fronts.
"""
