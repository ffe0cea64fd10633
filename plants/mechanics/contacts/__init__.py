"""One-sided constraints: contact forces, impacts, event-driven runs, and cases for lanes."""
