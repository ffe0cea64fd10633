"""What a knowledge base has to beat: fixed gains, gain tables, tuning rules, margin designs, state feedback.

Kinds of controller that are searched are candidates, searched alike for the same objective; a survey of the box gives
the fitness its reference.
"""
