"""Errors of integrators and of ways to treat an algebraic loop, against motions and processes whose solution is known."""
