"""Which controller to recommend, from paired rollouts in situations that were never taught.

The rule, its bootstrap intervals and a rank test; arrays in, a recommendation in words out.
"""
