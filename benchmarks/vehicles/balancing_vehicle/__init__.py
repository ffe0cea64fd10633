"""The balancing vehicle: runs, stepping schemes, contact, and the pages and figures of its studies."""
