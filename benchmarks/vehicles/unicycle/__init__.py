"""The unicycle: its algebraic loop (docs/performance), what its equations and runs lose, figures of its comparison."""
