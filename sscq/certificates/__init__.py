"""Stability certificates: one quadratic Lyapunov function for all that a gain schedule may do, checked exactly.

Also the energy account of one recorded run (``energy_lyapunov``). A solver only proposes; it takes no part in checks.
"""
