"""Control situations: what happens to a closed loop in one rollout, and sets of them to teach and to judge on.

A plant's own task comes first; a plant without one gets steps of the reference that fit it.
"""
