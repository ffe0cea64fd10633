"""The full car: its algebraic loop solved, iterated and delayed (docs/performance), and figures of its comparison."""
