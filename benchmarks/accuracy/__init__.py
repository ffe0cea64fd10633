"""Errors of integrators and of ways to treat an algebraic loop, against motions and processes with known solutions."""
