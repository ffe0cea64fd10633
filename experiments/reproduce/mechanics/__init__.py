"""Constrained mechanisms of the mechanics kit in every form, their motions, and what constraints and energy lose."""
