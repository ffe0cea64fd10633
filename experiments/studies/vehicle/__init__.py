"""The balancing vehicle: falls on slippery ground under fixed gains, knowledge bases and LQR.

Study: `vehicle`.
"""
